//! Limits of the library that would refuse or queue calls, lifted.

use bench_core::lane::Lane;
use bench_serve::Settings;
use jsonrpsee::server::ServerConfig;

/// Connections, and over HTTP calls, that are served at once; beyond it the library answers 429.
pub const CONNECTIONS: u32 = u32::MAX;

/// Replies of one WebSocket that wait to be written. Beyond it, replies would wait in their tasks instead.
const REPLIES: u32 = 65_536;

/// Largest request and largest reply: the library's own. 1 MiB of payload takes 1.4 MB of JSON.
const BODY_BYTES: u32 = 10 * 1024 * 1024;

pub fn config() -> ServerConfig {
    ServerConfig::builder()
        .max_connections(CONNECTIONS)
        .set_message_buffer_capacity(REPLIES)
        .max_request_body_size(BODY_BYTES)
        .max_response_body_size(BODY_BYTES)
        .build()
}

pub fn settings(lane: Lane) -> Settings {
    let service = match lane {
        Lane::Default => "TowerService, built per request",
        Lane::Tuned => "ws::connect and http::call_with_service_builder",
    };
    let http = match lane {
        Lane::Default => "hyper_util::server::conn::auto",
        Lane::Tuned => "hyper::server::conn::http1",
    };
    Settings::from([
        ("batch_requests".to_owned(), "unlimited".into()),
        ("http_connection".to_owned(), http.into()),
        ("max_connections".to_owned(), CONNECTIONS.into()),
        ("max_request_body_bytes".to_owned(), BODY_BYTES.into()),
        ("max_response_body_bytes".to_owned(), BODY_BYTES.into()),
        ("middleware".to_owned(), "none".into()),
        ("service".to_owned(), service.into()),
        ("ws_message_buffer".to_owned(), REPLIES.into()),
        ("ws_ping".to_owned(), "off".into()),
    ])
}

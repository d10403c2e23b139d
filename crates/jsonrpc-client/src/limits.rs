//! Limits of the library that would refuse or queue calls, lifted.

use std::time::Duration;

use bench_load::Settings;

/// Calls of one WebSocket that wait to be written: more than one connection has callers in any sweep of the suite.
pub const CALLS: usize = 65_536;

/// The harness has a time limit of its own (`--timeout`), which is to be the one that counts.
pub const CALL_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Largest request and largest reply: the library's own. 1 MiB of payload takes 1.4 MB of JSON.
pub const BODY_BYTES: u32 = 10 * 1024 * 1024;

/// What both transports have in common.
pub fn settings(transport: &str, middleware: &str, request_timeout: &str) -> Settings {
    Settings::from([
        ("id_kind".to_owned(), "number".into()),
        ("max_request_body_bytes".to_owned(), BODY_BYTES.into()),
        ("max_response_body_bytes".to_owned(), BODY_BYTES.into()),
        ("middleware".to_owned(), middleware.into()),
        ("request_timeout".to_owned(), request_timeout.into()),
        ("transport".to_owned(), transport.into()),
    ])
}

//! HTTP/2 without TLS, by prior knowledge: a connection that many callers may share.

use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::failure;
use crate::requests::{Method, Requests, Transport, sends_accept};

/// Clones share the connection.
#[derive(Clone)]
pub struct Http2 {
    requests: Requests,
    connection: SendRequest<Full<Bytes>>,
}

/// HTTP/2's settings of one lane.
struct Options {
    stream_window_bytes: u32,
    connection_window_bytes: u32,
    frame_bytes: u32,
}

/// hyper's own, as of 1.12 (`proto/h2/client.rs`): it does not tell them.
const DEFAULT: Options = Options {
    stream_window_bytes: 2 << 20,
    connection_window_bytes: 5 << 20,
    frame_bytes: 16 << 10,
};

/// As the server's: nobody waits for a WINDOW_UPDATE.
const TUNED: Options = Options {
    stream_window_bytes: 8 << 20,
    connection_window_bytes: 64 << 20,
    frame_bytes: 256 << 10,
};

const fn of(lane: Lane) -> Options {
    match lane {
        Lane::Default => DEFAULT,
        Lane::Tuned => TUNED,
    }
}

impl Http2 {
    pub async fn connect(target: &Target, content_type: &'static str) -> CallResult<Self> {
        let requests = Requests::new(&format!("http://{}", target.text), content_type, target)?;
        let mut builder = Builder::new(TokioExecutor::new());
        if target.lane == Lane::Tuned {
            let options = of(target.lane);
            builder
                .initial_stream_window_size(options.stream_window_bytes)
                .initial_connection_window_size(options.connection_window_bytes)
                .max_frame_size(options.frame_bytes);
        }
        let io = TokioIo::new(target.dial().await?);
        let (connection, driver) = builder.handshake(io).await.map_err(|error| failure::of_connection(&error))?;
        // An error of the driver reaches every call that is under way.
        tokio::spawn(async move { drop(driver.await) });
        Ok(Self { requests, connection })
    }
}

impl Transport for Http2 {
    async fn post(&mut self, method: Method, body: Bytes) -> CallResult<Bytes> {
        let reply = self.connection.send_request(self.requests.make(method, body)).await;
        self.requests.read(reply.map_err(|error| failure::of_connection(&error))?).await
    }
}

pub fn settings(lane: Lane) -> Settings {
    let options = of(lane);
    Settings::from([
        ("accept_header".to_owned(), sends_accept(lane).into()),
        ("body_limit_bytes".to_owned(), twirp_api::BODY_LIMIT.into()),
        ("h2_connection_window_bytes".to_owned(), options.connection_window_bytes.into()),
        ("h2_max_frame_bytes".to_owned(), options.frame_bytes.into()),
        ("h2_stream_window_bytes".to_owned(), options.stream_window_bytes.into()),
    ])
}

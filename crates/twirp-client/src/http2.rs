//! HTTP/2 without TLS, by prior knowledge: a connection that many callers may share.

use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http_body_util::Full;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::direct::Direct;
use crate::failure;
use crate::requests::{Method, Requests, Transport, sends_accept};

/// Clones share the connection.
#[derive(Clone)]
pub struct Http2 {
    requests: Requests,
    connection: Connection,
}

#[derive(Clone)]
enum Connection {
    /// As hyper's documentation shows.
    Hyper(SendRequest<Full<Bytes>>),
    Direct(Direct),
}

/// HTTP/2's settings of one lane.
pub struct Options {
    pub stream_window_bytes: u32,
    pub connection_window_bytes: u32,
    pub frame_bytes: u32,
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

impl Http2 {
    pub async fn connect(target: &Target, content_type: &'static str) -> CallResult<Self> {
        let requests = Requests::new(&format!("http://{}", target.text), content_type, target)?;
        let stream = target.dial().await?;
        let connection = match target.lane {
            Lane::Default => Connection::Hyper(by_hyper(stream).await?),
            Lane::Tuned => Connection::Direct(Direct::connect(stream, &TUNED).await?),
        };
        Ok(Self { requests, connection })
    }
}

async fn by_hyper(stream: TcpStream) -> CallResult<SendRequest<Full<Bytes>>> {
    let (connection, driver) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .map_err(|error| failure::of_hyper(&error))?;
    // An error of the driver reaches every call that is under way.
    tokio::spawn(async move { drop(driver.await) });
    Ok(connection)
}

impl Transport for Http2 {
    async fn post(&mut self, method: Method, body: Bytes) -> CallResult<Bytes> {
        match &mut self.connection {
            Connection::Hyper(connection) => {
                let request = self.requests.make(method, Full::new(body));
                let reply = connection.send_request(request).await.map_err(|error| failure::of_hyper(&error))?;
                self.requests.read(reply, failure::of_hyper).await
            }
            Connection::Direct(connection) => {
                let mut request = self.requests.make(method, ());
                // hyper adds it by itself.
                request.headers_mut().insert(CONTENT_LENGTH, body.len().into());
                let reply = connection.call(request, body).await.map_err(|error| failure::of_h2(&error))?;
                self.requests.read(reply, failure::of_h2).await
            }
        }
    }
}

pub fn settings(lane: Lane) -> Settings {
    let (options, transport) = match lane {
        Lane::Default => (DEFAULT, "hyper::client::conn::http2"),
        Lane::Tuned => (TUNED, "h2::client"),
    };
    Settings::from([
        ("accept_header".to_owned(), sends_accept(lane).into()),
        ("body_limit_bytes".to_owned(), twirp_api::BODY_LIMIT.into()),
        ("h2_connection_window_bytes".to_owned(), options.connection_window_bytes.into()),
        ("h2_max_frame_bytes".to_owned(), options.frame_bytes.into()),
        ("h2_stream_window_bytes".to_owned(), options.stream_window_bytes.into()),
        ("transport".to_owned(), transport.into()),
    ])
}

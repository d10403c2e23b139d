//! A connection that carries one call at a time.

use bench_core::failure::{CallError, FailureKind};
use bench_load::{CallResult, Target};
use tcp_api::{FrameReader, ReadError, Unsent, WriteError, begin_frame};
use tokio::net::TcpStream;

pub struct Connection {
    stream: TcpStream,
    reader: FrameReader,
}

impl Connection {
    pub async fn open(target: &Target) -> CallResult<Self> {
        Ok(Self {
            stream: target.dial().await?,
            reader: FrameReader::default(),
        })
    }

    /// Sends the frame that `fill` makes, as far as that needs no waiting. The reply is still to be received.
    pub fn send(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> CallResult<Unsent> {
        // It would be taken for the reply to this call.
        if self.reader.has_pending() {
            return Err(CallError::fatal(
                FailureKind::Protocol,
                "the server sent more than it was asked for",
            ));
        }
        begin_frame(&self.stream, fill).map_err(write_failure)
    }

    /// Gives the frame that answers what was sent to `take`.
    pub async fn receive<T>(&mut self, unsent: Unsent, take: impl FnOnce(&[u8]) -> T) -> CallResult<T> {
        unsent.finish(&mut self.stream).await.map_err(write_failure)?;
        self.reader.next(&mut self.stream, take).await.map_err(read_failure)
    }
}

fn write_failure(error: WriteError) -> CallError {
    match error {
        WriteError::Io(error) => error.into(),
        WriteError::TooSlow => CallError::fatal(FailureKind::Timeout, error.to_string()),
        // Nothing was sent: the connection serves the next call.
        WriteError::TooLarge(_) => CallError::of_call(FailureKind::Limit, error.to_string()),
    }
}

pub fn read_failure(error: ReadError) -> CallError {
    let kind = match error {
        ReadError::Io(error) => return error.into(),
        ReadError::Closed | ReadError::Truncated { .. } => FailureKind::Reset,
        ReadError::Refused(_) => FailureKind::ServerError,
        ReadError::TooLarge(_) | ReadError::OtherForm | ReadError::NoId(_) => FailureKind::Protocol,
        ReadError::TooSlow => FailureKind::Timeout,
    };
    CallError::fatal(kind, error.to_string())
}

//! One task per connection: read a frame, handle it, write a frame.

use bench_core::codec::Codec;
use bench_core::handler::Handler;
use bench_core::message::BenchmarkMessage;
use bench_serve::{BetweenCalls, Serve};
use tcp_api::{FrameReader, ReadError, WriteError, send_frame, send_refusal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What is read and thrown away after a refusal, at most: closing with unread bytes would reset the connection and the peer might never
/// see the reason.
const DISCARDED_BYTES: u64 = 1024 * 1024;

/// Why a connection ended before its peer closed it.
#[derive(Debug)]
pub enum Failure {
    /// The peer is told.
    Refuse(String),
    /// The connection is gone.
    Lost(String),
}

/// Answers messages of codec `C`.
pub async fn echo<C: Codec<BenchmarkMessage>>(mut stream: TcpStream, serve: Serve) -> Result<(), String> {
    let handler = serve.handler.clone();
    let mut between_calls = serve.between_calls();
    let served = async {
        let mut reader = FrameReader::default();
        while let Some(request) = next_frame(&mut reader, &mut stream, &mut between_calls, C::decode).await? {
            let request = request.map_err(|error| Failure::Refuse(error.to_string()))?;
            let reply = handler.echo(request).await;
            send_frame(&mut stream, |frame| C::encode(&reply, frame)).await?;
        }
        Ok(())
    };
    match served.await {
        Ok(()) => Ok(()),
        Err(failure) => end(stream, &handler, failure).await,
    }
}

/// Sends every frame back.
pub async fn opaque(mut stream: TcpStream, serve: Serve) -> Result<(), String> {
    let handler = serve.handler.clone();
    let mut between_calls = serve.between_calls();
    let served = async {
        let mut reader = FrameReader::default();
        while let Some(request) = next_frame(&mut reader, &mut stream, &mut between_calls, <[u8]>::to_vec).await? {
            let reply = handler.payload(request).await;
            send_frame(&mut stream, |frame| frame.extend_from_slice(&reply)).await?;
        }
        Ok(())
    };
    match served.await {
        Ok(()) => Ok(()),
        Err(failure) => end(stream, &handler, failure).await,
    }
}

/// The next frame; `None` when the peer has closed the connection between two, or when the server is to stop.
async fn next_frame<T>(
    reader: &mut FrameReader,
    stream: &mut TcpStream,
    between_calls: &mut BetweenCalls,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<Option<T>, Failure> {
    match between_calls.wait_for(reader.next(stream, take)).await {
        Some(Ok(taken)) => Ok(Some(taken)),
        None | Some(Err(ReadError::Closed)) => Ok(None),
        Some(Err(error)) => Err(read_failure(error)),
    }
}

/// What the peer did wrong it is told; a lost connection has nobody to tell.
pub fn read_failure(error: ReadError) -> Failure {
    match error {
        ReadError::TooLarge(_) | ReadError::TooSlow | ReadError::OtherForm | ReadError::NoId(_) => Failure::Refuse(error.to_string()),
        ReadError::Closed | ReadError::Truncated { .. } | ReadError::Refused(_) | ReadError::Io(_) => Failure::Lost(error.to_string()),
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Lost(error.to_string())
    }
}

/// Ends a connection for this reason; returns it where the peer cannot be told.
pub async fn end(mut stream: TcpStream, handler: &Handler, failure: Failure) -> Result<(), String> {
    let reason = match failure {
        Failure::Lost(reason) => return Err(reason),
        Failure::Refuse(reason) => reason,
    };
    let peer = stream.peer_addr().map_or("a peer".to_owned(), |peer| peer.to_string());
    handler.connection_failed(&format!("refused {peer}: {reason}"));
    let goodbye = async {
        send_refusal(&mut stream, &reason).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(DISCARDED_BYTES), &mut tokio::io::sink()).await?;
        Ok::<(), WriteError>(())
    };
    // Whether a peer that was refused listens to the reason is its own affair.
    let _ = timeout(tcp_api::FRAME_TIME, goodbye).await;
    Ok(())
}

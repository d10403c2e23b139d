//! What tarpc's errors are counted as.

use std::error::Error;
use std::io;

use bench_core::failure::{CallError, FailureKind, in_full};
use tarpc::ChannelError;
use tarpc::client::RpcError;

/// A call that failed.
pub fn of_call(error: RpcError) -> CallError {
    let text = in_full(&error);
    match &error {
        RpcError::Shutdown => CallError::fatal(FailureKind::Reset, "the server closed the connection"),
        RpcError::Channel(lost) => CallError::fatal(kind_of(lost), text),
        // Nothing was sent: the connection serves the next call.
        RpcError::Send(_) => CallError::of_call(FailureKind::Limit, text),
        RpcError::DeadlineExceeded => CallError::of_call(FailureKind::Timeout, text),
        RpcError::Server(refused) if refused.kind == io::ErrorKind::WouldBlock => CallError::of_call(FailureKind::Limit, text),
        RpcError::Server(_) => CallError::of_call(FailureKind::ServerError, text),
    }
}

/// A reply to this call, but not of its method.
pub fn of_another_method() -> CallError {
    CallError::fatal(FailureKind::Protocol, "the reply is one of another method")
}

/// What happened to the connection: tarpc's transport wraps it into an `io::Error` that says nothing.
fn kind_of(error: &ChannelError<dyn Error + Send + Sync>) -> FailureKind {
    use ChannelError::{Close, Flush, Read, Ready, Write};
    let (Read(cause) | Ready(cause) | Write(cause) | Flush(cause) | Close(cause)) = error;
    match cause.downcast_ref::<io::Error>().map(|error| innermost(error).kind()) {
        // Half a frame, and then the end.
        None | Some(io::ErrorKind::Other) => FailureKind::Reset,
        Some(kind) => CallError::from(io::Error::from(kind)).kind,
    }
}

fn innermost(error: &io::Error) -> &io::Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>()) {
        Some(inner) => innermost(inner),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn lost(error: io::Error) -> CallError {
        of_call(RpcError::Channel(ChannelError::Read(Arc::new(io::Error::other(error)))))
    }

    #[test]
    fn a_lost_connection_is_counted_by_what_happened_to_it() {
        for (kind, expected) in [
            (io::ErrorKind::ConnectionReset, FailureKind::Reset),
            (io::ErrorKind::BrokenPipe, FailureKind::Reset),
            (io::ErrorKind::InvalidData, FailureKind::Protocol),
            (io::ErrorKind::Other, FailureKind::Reset),
        ] {
            let error = lost(io::Error::new(kind, "why"));
            assert_eq!((error.kind, error.connection_usable), (expected, false));
            assert!(
                error.message.ends_with("could not read from the transport: why"),
                "{}",
                error.message
            );
        }
        let closed = of_call(RpcError::Shutdown);
        assert_eq!((closed.kind, closed.connection_usable), (FailureKind::Reset, false));
    }

    #[test]
    fn a_message_that_was_not_sent_leaves_the_connection_usable() {
        let error = of_call(RpcError::Send(Box::new(io::Error::from(io::ErrorKind::InvalidInput))));
        assert_eq!((error.kind, error.connection_usable), (FailureKind::Limit, true));
    }
}

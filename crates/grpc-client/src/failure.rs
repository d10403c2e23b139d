//! What tonic's errors are counted as.

use std::error::Error;

use bench_core::failure::{CallError, FailureKind, in_full};
use tonic::{Code, Status};

/// A call that failed. The connection is lost where the status came from the transport, not from the server.
pub fn of_call(status: Status) -> CallError {
    // A closed channel answers for itself, without a cause, in these words of the generated stub.
    let from_transport = Error::source(&status).is_some() || status.message().starts_with("Service was not ready");
    let kind = match status.code() {
        Code::ResourceExhausted => FailureKind::Limit,
        Code::DeadlineExceeded => FailureKind::Timeout,
        // Whatever code tonic gives it: the connection is gone.
        _ if from_transport => FailureKind::Reset,
        Code::Unavailable => FailureKind::Reset,
        Code::Unimplemented => FailureKind::Protocol,
        _ => FailureKind::ServerError,
    };
    CallError {
        kind,
        connection_usable: !from_transport,
        message: match status.source() {
            Some(cause) => format!("{:?}: {}: {}", status.code(), status.message(), in_full(cause)),
            None => format!("{:?}: {}", status.code(), status.message()),
        },
    }
}

/// A connection that could not be opened: the dialer's own error where it is the cause.
pub fn of_connect(error: &(dyn Error + 'static)) -> CallError {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(dialled) = current.downcast_ref::<CallError>() {
            return dialled.clone();
        }
        cause = current.source();
    }
    CallError::fatal(FailureKind::Protocol, format!("no HTTP/2 connection: {}", in_full(error)))
}

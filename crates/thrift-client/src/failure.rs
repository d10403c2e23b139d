//! What the library's errors are counted as.

use bench_core::failure::{CallError, FailureKind};
use thrift::{ApplicationErrorKind, TransportErrorKind};

/// A call that failed. The connection is always lost: whatever the error, the library leaves unread what it did not understand, and the
/// server does the same after it has answered by an exception.
pub fn of_call(error: thrift::Error) -> CallError {
    let kind = match &error {
        thrift::Error::Transport(inner) => match inner.kind {
            TransportErrorKind::EndOfFile | TransportErrorKind::NotOpen => FailureKind::Reset,
            TransportErrorKind::TimedOut => FailureKind::Timeout,
            TransportErrorKind::NegativeSize | TransportErrorKind::SizeLimit => FailureKind::Protocol,
            // A broken pipe; and a frame over the limit or of a negative length, which the library does not tell apart from that.
            _ if inner.message.to_ascii_lowercase().contains("frame size") => FailureKind::Protocol,
            _ => FailureKind::Reset,
        },
        thrift::Error::Protocol(_) => FailureKind::Protocol,
        thrift::Error::Application(inner) => match inner.kind {
            // The client's own findings, and what a server says to a call that it does not know.
            ApplicationErrorKind::UnknownMethod
            | ApplicationErrorKind::InvalidMessageType
            | ApplicationErrorKind::WrongMethodName
            | ApplicationErrorKind::BadSequenceId
            | ApplicationErrorKind::MissingResult
            | ApplicationErrorKind::ProtocolError => FailureKind::Protocol,
            _ => FailureKind::ServerError,
        },
        thrift::Error::User(_) => FailureKind::ServerError,
    };
    let message = match &error {
        thrift::Error::Transport(inner) if inner.kind == TransportErrorKind::EndOfFile => "the peer closed the connection".to_owned(),
        error => thrift_api::sentence(error),
    };
    CallError::fatal(kind, message)
}

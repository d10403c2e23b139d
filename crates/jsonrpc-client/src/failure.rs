//! What jsonrpsee's errors are counted as.

use std::error::Error as StdError;
use std::io;

use bench_core::failure::{CallError, FailureKind, in_full};
use jsonrpsee::client_transport::ws::{WsError, WsHandshakeError};
use jsonrpsee::core::client::Error;
use jsonrpsee::core::http_helpers::HttpError;
use jsonrpsee_http_client::transport::Error as HttpTransportError;
use jsonrpsee_http_client::types::ErrorObjectOwned;
use jsonrpsee_http_client::types::error::{
    INVALID_PARAMS_CODE, INVALID_REQUEST_CODE, METHOD_NOT_FOUND_CODE, OVERSIZED_REQUEST_CODE, OVERSIZED_RESPONSE_CODE, PARSE_ERROR_CODE,
    SERVER_IS_BUSY_CODE, TOO_BIG_BATCH_REQUEST_CODE, TOO_BIG_BATCH_RESPONSE_CODE, TOO_MANY_SUBSCRIPTIONS_CODE,
};

type Cause<'a> = &'a (dyn StdError + 'static);

/// A call that failed.
pub fn of_call(error: Error) -> CallError {
    match &error {
        Error::Call(object) => of_object(object),
        Error::Transport(cause) => of_transport(&**cause),
        // The tasks behind a WebSocket ended, for this reason.
        Error::RestartNeeded(reason) => CallError {
            connection_usable: false,
            ..of_end(reason)
        },
        // A result that is no such message: the reply was read to its end.
        Error::ParseError(_) => CallError::of_call(FailureKind::Protocol, format!("unreadable reply: {error}")),
        Error::InvalidRequestId(_) => CallError::fatal(FailureKind::Protocol, error.to_string()),
        Error::RequestTimeout => CallError::fatal(FailureKind::Timeout, error.to_string()),
        Error::ServiceDisconnect => CallError::fatal(FailureKind::Reset, error.to_string()),
        _ => CallError::fatal(FailureKind::Other, error.to_string()),
    }
}

/// Why a WebSocket ended under the calls.
fn of_end(reason: &Error) -> CallError {
    match reason {
        Error::Transport(cause) => of_transport(&**cause),
        // A text that is no reply to anything.
        reason => CallError::fatal(FailureKind::Protocol, format!("the connection was given up: {reason}")),
    }
}

/// The server answered with an error.
fn of_object(object: &ErrorObjectOwned) -> CallError {
    let kind = match object.code() {
        OVERSIZED_REQUEST_CODE
        | OVERSIZED_RESPONSE_CODE
        | SERVER_IS_BUSY_CODE
        | TOO_BIG_BATCH_REQUEST_CODE
        | TOO_BIG_BATCH_RESPONSE_CODE
        | TOO_MANY_SUBSCRIPTIONS_CODE => FailureKind::Limit,
        INVALID_PARAMS_CODE | INVALID_REQUEST_CODE | METHOD_NOT_FOUND_CODE | PARSE_ERROR_CODE => FailureKind::Protocol,
        _ => FailureKind::ServerError,
    };
    let data = object.data().map(|data| format!(" ({data})")).unwrap_or_default();
    CallError::of_call(kind, format!("error {}: {}{data}", object.code(), object.message()))
}

fn of_transport(cause: Cause<'_>) -> CallError {
    if let Some(error) = cause.downcast_ref() {
        return of_http(error);
    }
    // The client ends the connection rather than send a message over its limit.
    let kind = match cause.downcast_ref() {
        Some(WsError::MessageTooLarge) => FailureKind::Limit,
        _ => kind_of_loss(cause),
    };
    CallError::fatal(kind, format!("the connection was lost: {}", in_full(cause)))
}

/// An HTTP request that brought no reply. A connection with an unread reply on it serves no other call.
pub fn of_http(error: &HttpTransportError) -> CallError {
    match error {
        HttpTransportError::RequestTooLarge => CallError::of_call(FailureKind::Limit, error.to_string()),
        HttpTransportError::Rejected { status_code } => {
            let kind = match status_code {
                413 | 429 | 503 => FailureKind::Limit,
                500.. => FailureKind::ServerError,
                _ => FailureKind::Protocol,
            };
            CallError::fatal(kind, format!("the server answered with HTTP status {status_code}"))
        }
        HttpTransportError::Http(HttpError::TooLarge) => CallError::fatal(FailureKind::Limit, error.to_string()),
        HttpTransportError::Http(HttpError::Stream(cause)) => {
            let cause: Cause<'_> = &**cause;
            CallError::fatal(kind_of_loss(cause), format!("the HTTP call failed: {}", in_full(cause)))
        }
        _ => CallError::fatal(FailureKind::Protocol, error.to_string()),
    }
}

/// A WebSocket that was not opened.
pub fn of_ws_connect(error: Error) -> CallError {
    let Error::Transport(cause) = &error else {
        return CallError::fatal(FailureKind::Other, error.to_string());
    };
    let cause: Cause<'_> = &**cause;
    let kind = match cause.downcast_ref() {
        Some(WsHandshakeError::Rejected { status_code: 429 | 503 }) => FailureKind::Limit,
        Some(WsHandshakeError::Timeout(_)) => FailureKind::Timeout,
        _ => io_kind(cause).unwrap_or(FailureKind::Protocol),
    };
    CallError::fatal(kind, format!("no WebSocket connection: {}", in_full(cause)))
}

/// As the library's own backend wraps its errors.
pub fn http_stream(error: impl Into<Box<dyn StdError + Send + Sync>>) -> HttpTransportError {
    HttpTransportError::Http(HttpError::Stream(error.into()))
}

pub fn no_host(text: &str, error: &dyn StdError) -> CallError {
    CallError::fatal(FailureKind::Other, format!("{text} is no value of a Host header: {error}"))
}

/// Reset, unless the cause says otherwise: bytes that do not follow HTTP or the WebSocket protocol.
fn kind_of_loss(cause: Cause<'_>) -> FailureKind {
    let garbled = causes(cause).any(|cause| match cause.downcast_ref::<hyper::Error>() {
        Some(error) => error.is_parse(),
        None => matches!(cause.downcast_ref(), Some(WsError::Connection(error)) if error.source().is_some()),
    });
    match io_kind(cause) {
        Some(kind) => kind,
        None if garbled => FailureKind::Protocol,
        None => FailureKind::Reset,
    }
}

/// What the operating system's error, if there is one among the causes, is counted as.
fn io_kind(cause: Cause<'_>) -> Option<FailureKind> {
    let error = causes(cause).find_map(|cause| cause.downcast_ref::<io::Error>())?;
    Some(CallError::from(io::Error::from(error.kind())).kind)
}

fn causes(error: Cause<'_>) -> impl Iterator<Item = Cause<'_>> {
    std::iter::successors(Some(error), |&error| error.source())
}

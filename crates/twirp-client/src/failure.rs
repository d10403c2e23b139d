//! What Twirp's and hyper's errors are counted as.

use std::error::Error;
use std::io;

use bench_core::failure::{CallError, FailureKind};
use bench_load::Target;
use http::HeaderValue;
use twirp_api::body::ReadError;
use twirp_api::{Code, Malformed, TwirpError};

/// The target cannot stand in a request.
pub fn of_authority(target: &Target, error: &dyn Error) -> CallError {
    CallError::fatal(FailureKind::Other, format!("{} is no authority: {error}", target.text))
}

/// The server, or something before it, answered with an error; the connection serves the next call.
pub fn of_error(http_status: u16, error: &TwirpError) -> CallError {
    CallError::of_call(kind(http_status, error.code), error.to_string())
}

fn kind(http_status: u16, code: Code) -> FailureKind {
    match (http_status, code) {
        (429, _) | (_, Code::ResourceExhausted) => FailureKind::Limit,
        (_, Code::DeadlineExceeded) => FailureKind::Timeout,
        (_, Code::BadRoute | Code::Malformed | Code::Unimplemented) => FailureKind::Protocol,
        _ => FailureKind::ServerError,
    }
}

/// A reply of the wrong kind.
pub fn of_content_type(found: Option<&HeaderValue>, expected: &HeaderValue) -> CallError {
    CallError::of_call(
        FailureKind::Protocol,
        format!("the reply's content type is {found:?}, and must be {expected:?}"),
    )
}

/// A reply that is no message.
pub fn of_message(error: Malformed) -> CallError {
    CallError::of_call(FailureKind::Protocol, error.to_string())
}

/// A reply whose body did not come whole; `of_library` tells what an error of the library is counted as.
pub fn of_body<E>(error: ReadError<E>, of_library: fn(&E) -> CallError) -> CallError {
    match error {
        // The rest is still on its way.
        ReadError::TooLarge => CallError::fatal(
            FailureKind::Protocol,
            format!("the reply is larger than the limit of {} bytes", twirp_api::BODY_LIMIT),
        ),
        ReadError::Lost(error) => of_library(&error),
    }
}

/// hyper's own errors. What they stand for is told by their causes, where there is one.
pub fn of_hyper(error: &hyper::Error) -> CallError {
    let (kind, what) = match error {
        error if error.is_parse() => (FailureKind::Protocol, "no reply of HTTP"),
        error if error.is_timeout() => (FailureKind::Timeout, "no reply in time"),
        error if error.is_canceled() || error.is_closed() || error.is_incomplete_message() => {
            (FailureKind::Reset, "the connection is closed")
        }
        _ => (FailureKind::Other, "the connection failed"),
    };
    let mut failure = CallError::fatal(kind, format!("{what}: {error}"));
    let mut cause = error.source();
    while let Some(current) = cause {
        failure.message += &format!(": {current}");
        if let Some(error) = current.downcast_ref::<io::Error>() {
            failure.kind = of_io(error.kind());
        } else if let Some(error) = current.downcast_ref::<h2::Error>() {
            CallError {
                kind: failure.kind,
                connection_usable: failure.connection_usable,
                ..
            } = of_h2(error);
        }
        cause = current.source();
    }
    failure
}

/// HTTP/2's own errors. The connection is lost, except where the server gave up one stream only.
pub fn of_h2(error: &h2::Error) -> CallError {
    let kind = match (error.get_io(), error.reason()) {
        (Some(error), _) => of_io(error.kind()),
        (None, Some(h2::Reason::NO_ERROR | h2::Reason::CANCEL | h2::Reason::REFUSED_STREAM)) => FailureKind::Reset,
        (None, Some(h2::Reason::ENHANCE_YOUR_CALM)) => FailureKind::Limit,
        _ => FailureKind::Protocol,
    };
    CallError {
        kind,
        connection_usable: error.is_reset() && error.is_remote(),
        message: error.to_string(),
    }
}

fn of_io(kind: io::ErrorKind) -> FailureKind {
    CallError::from(io::Error::from(kind)).kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_counted_by_its_kind() {
        for (code, name, status) in Code::TABLE {
            let expected = match name {
                "resource_exhausted" => FailureKind::Limit,
                "deadline_exceeded" => FailureKind::Timeout,
                "bad_route" | "malformed" | "unimplemented" => FailureKind::Protocol,
                _ => FailureKind::ServerError,
            };
            let error = of_error(status, &TwirpError::new(code, "x"));
            assert_eq!(error.kind, expected, "{name}");
            assert!(error.connection_usable);
            assert_eq!(error.message, format!("{name}: x"));
        }
    }

    #[test]
    fn what_comes_from_between_is_counted_by_its_status() {
        let check = |status, kind| {
            let error = of_error(status, &TwirpError::of_reply(status, b"<html>"));
            assert_eq!(error.kind, kind, "{status}");
        };
        check(429, FailureKind::Limit);
        check(404, FailureKind::Protocol);
        for status in [302, 400, 401, 403, 500, 502, 503, 504] {
            check(status, FailureKind::ServerError);
        }
    }
}

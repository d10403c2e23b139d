//! Twirp's errors: a code, a text, and JSON whatever the request was.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::BODY_LIMIT;

/// Longest part of a foreign reply that an error repeats, in characters.
const QUOTED: usize = 200;

/// Twirp's error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The caller gave up.
    Canceled,
    /// No other code fits.
    Unknown,
    /// The argument is wrong whatever the state of the server.
    InvalidArgument,
    /// The body is no message.
    Malformed,
    /// The time was over before the work was done.
    DeadlineExceeded,
    /// There is no such entity.
    NotFound,
    /// There is no such method, it takes POST only, or it does not take this content type.
    BadRoute,
    /// The entity is there already.
    AlreadyExists,
    /// The caller may not do this.
    PermissionDenied,
    /// The caller did not say who it is.
    Unauthenticated,
    /// A quota or a limit was reached.
    ResourceExhausted,
    /// The state of the server does not allow it.
    FailedPrecondition,
    /// Given up for another operation's sake.
    Aborted,
    /// Outside the valid range.
    OutOfRange,
    /// Not implemented.
    Unimplemented,
    /// An invariant of the server is broken.
    Internal,
    /// Not available now.
    Unavailable,
    /// Data was lost or corrupted for good.
    Dataloss,
}

impl Code {
    /// Every code with its name and its HTTP status, in the order of the specification (Twirp v7, "Error Codes").
    pub const TABLE: [(Self, &'static str, u16); 18] = [
        (Self::Canceled, "canceled", 408),
        (Self::Unknown, "unknown", 500),
        (Self::InvalidArgument, "invalid_argument", 400),
        (Self::Malformed, "malformed", 400),
        (Self::DeadlineExceeded, "deadline_exceeded", 408),
        (Self::NotFound, "not_found", 404),
        (Self::BadRoute, "bad_route", 404),
        (Self::AlreadyExists, "already_exists", 409),
        (Self::PermissionDenied, "permission_denied", 403),
        (Self::Unauthenticated, "unauthenticated", 401),
        (Self::ResourceExhausted, "resource_exhausted", 429),
        (Self::FailedPrecondition, "failed_precondition", 412),
        (Self::Aborted, "aborted", 409),
        (Self::OutOfRange, "out_of_range", 400),
        (Self::Unimplemented, "unimplemented", 501),
        (Self::Internal, "internal", 500),
        (Self::Unavailable, "unavailable", 503),
        (Self::Dataloss, "dataloss", 500),
    ];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// The HTTP status that it is sent under.
    pub const fn http_status(self) -> u16 {
        Self::TABLE[self as usize].2
    }

    /// The code for an HTTP status that came without a Twirp error: a proxy's, or a server's of another kind (Twirp v7, "HTTP Errors from
    /// Intermediary Proxies").
    pub const fn of_intermediary(http_status: u16) -> Self {
        match http_status {
            300..=400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::BadRoute,
            429 | 502 | 503 | 504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An error as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {msg}")]
pub struct TwirpError {
    /// What it is.
    pub code: Code,
    /// One sentence for a person.
    #[serde(default)]
    pub msg: String,
    /// Further facts by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, String>,
}

impl TwirpError {
    /// An error without further facts.
    pub fn new(code: Code, msg: impl Into<String>) -> Self {
        Self {
            code,
            msg: msg.into(),
            meta: BTreeMap::new(),
        }
    }

    /// There is nothing to be called this way; `route` is the method and the path that were asked for.
    pub fn bad_route(msg: impl Into<String>, route: String) -> Self {
        let mut error = Self::new(Code::BadRoute, msg);
        error.meta.insert("twirp_invalid_route".to_owned(), route);
        error
    }

    /// The body is larger than [`BODY_LIMIT`].
    pub fn too_large() -> Self {
        Self::new(
            Code::ResourceExhausted,
            format!("the body is larger than the limit of {BODY_LIMIT} bytes"),
        )
    }

    /// The error in a reply with another status than 200.
    pub fn of_reply(http_status: u16, body: &[u8]) -> Self {
        let redirects = (300..400).contains(&http_status);
        match serde_json::from_slice(body) {
            Ok(error) if !redirects => error,
            _ => Self::from_intermediary(http_status, body),
        }
    }

    fn from_intermediary(http_status: u16, body: &[u8]) -> Self {
        let quoted: String = String::from_utf8_lossy(body).trim().chars().take(QUOTED).collect();
        let msg = match quoted.is_empty() {
            true => format!("HTTP status {http_status} without a Twirp error"),
            false => format!("HTTP status {http_status} without a Twirp error: {quoted}"),
        };
        let mut error = Self::new(Code::of_intermediary(http_status), msg);
        error.meta.insert("http_error_from_intermediary".to_owned(), "true".to_owned());
        error.meta.insert("status_code".to_owned(), http_status.to_string());
        error
    }

    /// The body of a reply.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts and a map of texts can be written to memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_name_and_its_status() {
        // Written down a second time, from the specification.
        let specified = "canceled 408, unknown 500, invalid_argument 400, malformed 400, deadline_exceeded 408, not_found 404, bad_route 404, \
            already_exists 409, permission_denied 403, unauthenticated 401, resource_exhausted 429, failed_precondition 412, aborted 409, \
            out_of_range 400, unimplemented 501, internal 500, unavailable 503, dataloss 500";
        let written: Vec<String> = Code::TABLE
            .iter()
            .map(|(code, name, status)| {
                // The table is in the order of the enum, and serde has the same names.
                assert_eq!((code.name(), code.http_status()), (*name, *status));
                assert_eq!(serde_json::to_string(code).unwrap(), format!("\"{name}\""));
                assert_eq!(serde_json::from_str::<Code>(&format!("\"{name}\"")).unwrap(), *code);
                format!("{code} {status}")
            })
            .collect();
        assert_eq!(written.join(", "), specified);
    }

    #[test]
    fn an_error_is_json_and_meta_is_left_out_when_there_is_none() {
        let error = TwirpError::new(Code::Malformed, "no message");
        assert_eq!(error.to_json(), br#"{"code":"malformed","msg":"no message"}"#);
        let error = TwirpError::bad_route("no such method", "POST /x".to_owned());
        assert_eq!(
            String::from_utf8(error.to_json()).unwrap(),
            r#"{"code":"bad_route","msg":"no such method","meta":{"twirp_invalid_route":"POST /x"}}"#
        );
        assert_eq!(TwirpError::of_reply(404, &error.to_json()), error);
    }

    #[test]
    fn what_is_no_twirp_error_becomes_one_by_its_status() {
        let check = |statuses: &[u16], code: Code| {
            for &status in statuses {
                for body in ["", "<html>", r#"{"code":"no_such_code","msg":"?"}"#, r#"{"msg":"no code"}"#] {
                    let error = TwirpError::of_reply(status, body.as_bytes());
                    assert_eq!(error.code, code, "{status} {body}");
                    assert_eq!(error.meta["status_code"], status.to_string());
                }
            }
        };
        check(&[301, 302, 307, 308, 399], Code::Internal);
        check(&[400], Code::Internal);
        check(&[401], Code::Unauthenticated);
        check(&[403], Code::PermissionDenied);
        check(&[404], Code::BadRoute);
        check(&[429, 502, 503, 504], Code::Unavailable);
        check(&[201, 204, 402, 405, 415, 418, 500, 501, 505], Code::Unknown);
    }

    #[test]
    fn a_redirect_is_no_twirp_error_whatever_it_says() {
        let body = TwirpError::new(Code::NotFound, "x").to_json();
        assert_eq!(TwirpError::of_reply(302, &body).code, Code::Internal);
        assert_eq!(TwirpError::of_reply(500, &body).code, Code::NotFound);
    }

    #[test]
    fn a_foreign_reply_is_quoted_but_not_at_length() {
        let error = TwirpError::of_reply(502, "x".repeat(10_000).as_bytes());
        assert!(error.msg.len() < 300 && error.msg.contains("502") && error.msg.contains("xxx"));
    }
}

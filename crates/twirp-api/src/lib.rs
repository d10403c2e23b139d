//! Twirp v7: what its server and its client agree on.
//!
//! A call is `POST /twirp/<package>.<Service>/<Method>` with a message in protobuf or in the JSON of protobuf; the reply has the request's
//! content type. An error is a JSON object whatever the request was, under the HTTP status of its code.

pub mod body;
mod codec;
mod error;
mod message;

pub use codec::{Codec, Json, Malformed, Message, Protobuf};
pub use error::{Code, TwirpError};
pub use message::{BenchmarkMessage, PayloadMessage};

/// Path of the echo service's method.
pub const SAY: &str = "/twirp/rpcbench.Echo/Say";

/// Path of the payload service's method.
pub const EXCHANGE: &str = "/twirp/rpcbench.Payload/Exchange";

/// Content type of an error, and of messages in JSON.
pub const JSON_TYPE: &str = "application/json";

/// Largest body that is accepted, both ways: a payload of 4 MiB (the receive limit of gRPC implementations), and room
/// for what stands around it. In JSON that is a payload of 3 MiB: base64 makes four bytes of three.
pub const BODY_LIMIT: usize = 4 * 1024 * 1024 + 64 * 1024;

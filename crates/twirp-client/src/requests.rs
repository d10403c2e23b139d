//! The requests of one connection, and what comes back.

use bench_core::failure::CallError;
use bench_core::lane::Lane;
use bench_load::{CallResult, Target};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::InvalidUri;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body::Body;
use twirp_api::{EXCHANGE, SAY, TwirpError, body};

use crate::failure;

/// A connection that carries HTTP requests.
pub trait Transport: Sized + 'static {
    /// One call: the body there, the reply's body back.
    fn post(&mut self, method: Method, body: Bytes) -> impl Future<Output = CallResult<Bytes>>;
}

/// What can be called.
#[derive(Clone, Copy)]
pub enum Method {
    Say,
    Exchange,
}

/// What is the same in every request of a connection. Clones share their memory.
#[derive(Clone)]
pub struct Requests {
    say: Uri,
    exchange: Uri,
    content_type: HeaderValue,
    accept: bool,
}

impl Requests {
    /// `origin` stands before the path; empty where the request names its host in a header.
    pub fn new(origin: &str, content_type: &'static str, target: &Target) -> CallResult<Self> {
        let uri = |path: &str| {
            format!("{origin}{path}")
                .parse()
                .map_err(|error: InvalidUri| failure::of_authority(target, &error))
        };
        Ok(Self {
            say: uri(SAY)?,
            exchange: uri(EXCHANGE)?,
            content_type: HeaderValue::from_static(content_type),
            accept: sends_accept(target.lane),
        })
    }

    pub fn make<B>(&self, method: Method, body: B) -> Request<B> {
        let mut request = Request::new(body);
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = match method {
            Method::Say => self.say.clone(),
            Method::Exchange => self.exchange.clone(),
        };
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, self.content_type.clone());
        if self.accept {
            headers.insert(ACCEPT, self.content_type.clone());
        }
        request
    }

    /// The body of a good reply; `of_library` tells what an error of the library is counted as.
    pub async fn read<B>(&self, reply: Response<B>, of_library: fn(&B::Error) -> CallError) -> CallResult<Bytes>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let (head, mut body) = reply.into_parts();
        let body = body::read(&mut body).await.map_err(|error| failure::of_body(error, of_library))?;
        if head.status != StatusCode::OK {
            let status = head.status.as_u16();
            return Err(failure::of_error(status, &TwirpError::of_reply(status, &body)));
        }
        match head.headers.get(CONTENT_TYPE) {
            Some(found) if *found == self.content_type => Ok(body),
            found => Err(failure::of_content_type(found, &self.content_type)),
        }
    }
}

/// Twirp's other clients send what they accept; the specification does not ask for it.
pub fn sends_accept(lane: Lane) -> bool {
    lane == Lane::Default
}

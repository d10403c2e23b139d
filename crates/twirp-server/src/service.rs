//! From an HTTP request to the suite's handler and back, as Twirp v7 has it.

use std::time::Duration;

use bench_core::handler::Handler;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, EXPECT};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use tokio::time::timeout;
use twirp_api::body::{self, ReadError};
use twirp_api::{BenchmarkMessage, Code, Codec, EXCHANGE, JSON_TYPE, Json, Malformed, PayloadMessage, Protobuf, SAY, TwirpError};

/// What is read and thrown away of the body of a refused request, at most: HTTP/1.1 closes a connection with an unread body, and the reset
/// could overtake the answer.
const DISCARDED_BYTES: usize = 16 * 1024 * 1024;
const DISCARDED_TIME: Duration = Duration::from_secs(10);

/// Why a request gets no message.
enum Refusal<E> {
    /// The caller is told.
    Answer(TwirpError),
    /// The body broke off: there is nobody to tell.
    Lost(E),
}

enum Call {
    Say,
    Exchange,
}

enum Format {
    Protobuf,
    Json,
}

/// Answers one request.
///
/// # Errors
/// The body's own, when it breaks off.
pub async fn answer<B>(request: Request<B>, handler: Handler) -> Result<Response<Full<Bytes>>, B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    let (head, mut body) = request.into_parts();
    match serve(&head, &mut body, &handler).await {
        Ok(response) => Ok(response),
        Err(Refusal::Lost(error)) => Err(error),
        Err(Refusal::Answer(error)) => {
            // A client that asks first sends nothing when the answer is no.
            if !head.headers.contains_key(EXPECT) {
                discard(&mut body).await;
            }
            Ok(refuse(&error))
        }
    }
}

async fn serve<B>(head: &Parts, body: &mut B, handler: &Handler) -> Result<Response<Full<Bytes>>, Refusal<B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let call = call(head)?;
    let format = format(&head.headers).ok_or_else(|| bad_content_type(head))?;
    let body = body::read(body).await?;
    match (call, format) {
        (Call::Say, Format::Protobuf) => say::<Protobuf>(body, handler).await,
        (Call::Say, Format::Json) => say::<Json>(body, handler).await,
        (Call::Exchange, Format::Protobuf) => exchange::<Protobuf>(body, handler).await,
        (Call::Exchange, Format::Json) => exchange::<Json>(body, handler).await,
    }
    .map_err(Into::into)
}

async fn say<C: Codec>(body: Bytes, handler: &Handler) -> Result<Response<Full<Bytes>>, Malformed> {
    let request: BenchmarkMessage = C::decode(body)?;
    let reply = handler.echo(request).await;
    Ok(respond(StatusCode::OK, C::CONTENT_TYPE, C::encode(&reply)))
}

async fn exchange<C: Codec>(body: Bytes, handler: &Handler) -> Result<Response<Full<Bytes>>, Malformed> {
    let request: PayloadMessage = C::decode(body)?;
    let reply = handler.payload(request).await;
    Ok(respond(StatusCode::OK, C::CONTENT_TYPE, C::encode(&reply)))
}

fn call(head: &Parts) -> Result<Call, TwirpError> {
    if head.method != Method::POST {
        return Err(bad_route(head, format!("{} is not allowed, only POST is", head.method)));
    }
    match head.uri.path() {
        SAY => Ok(Call::Say),
        EXCHANGE => Ok(Call::Exchange),
        path => Err(bad_route(head, format!("there is no method at {path}"))),
    }
}

/// What the content type stands for; parameters such as a charset mean nothing, JSON is UTF-8.
fn format(headers: &HeaderMap) -> Option<Format> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = value.split(';').next().unwrap_or_default().trim();
    let is = |content_type: &str| media_type.eq_ignore_ascii_case(content_type);
    match () {
        () if is(Protobuf::CONTENT_TYPE) => Some(Format::Protobuf),
        () if is(Json::CONTENT_TYPE) => Some(Format::Json),
        () => None,
    }
}

fn bad_content_type(head: &Parts) -> TwirpError {
    let found = head
        .headers
        .get(CONTENT_TYPE)
        .map_or("none".into(), |value| String::from_utf8_lossy(value.as_bytes()));
    let (protobuf, json) = (Protobuf::CONTENT_TYPE, Json::CONTENT_TYPE);
    bad_route(head, format!("the content type is {found}, and must be {protobuf} or {json}"))
}

fn bad_route(head: &Parts, message: String) -> TwirpError {
    TwirpError::bad_route(message, format!("{} {}", head.method, head.uri.path()))
}

fn refuse(error: &TwirpError) -> Response<Full<Bytes>> {
    // The table has valid statuses only, as its test says.
    let status = StatusCode::from_u16(error.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    respond(status, JSON_TYPE, error.to_json().into())
}

/// hyper adds the content length: the body is one piece of known size.
fn respond(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

async fn discard<B: Body<Data = Bytes> + Unpin>(body: &mut B) {
    let discarding = async {
        let mut discarded = 0;
        while discarded < DISCARDED_BYTES
            && let Some(Ok(frame)) = body.frame().await
        {
            discarded += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // Whoever sends more, or slowly, may miss the reason.
    let _ = timeout(DISCARDED_TIME, discarding).await;
}

impl<E> From<TwirpError> for Refusal<E> {
    fn from(error: TwirpError) -> Self {
        Self::Answer(error)
    }
}

impl<E> From<Malformed> for Refusal<E> {
    fn from(error: Malformed) -> Self {
        Self::Answer(TwirpError::new(Code::Malformed, error.to_string()))
    }
}

impl<E> From<ReadError<E>> for Refusal<E> {
    fn from(error: ReadError<E>) -> Self {
        match error {
            ReadError::TooLarge => Self::Answer(TwirpError::too_large()),
            ReadError::Lost(error) => Self::Lost(error),
        }
    }
}

#[cfg(test)]
mod tests;

use bench_core::failure_log::FailureLog;
use bench_core::handler::HandlerSettings;
use bench_core::message::{EchoMessage as _, benchmark_request, payload};
use twirp_api::BODY_LIMIT;

use super::*;

const PROTOBUF: &str = "application/protobuf";

fn request(method: &str, path: &str, content_type: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(path);
    if !content_type.is_empty() {
        request = request.header(CONTENT_TYPE, content_type);
    }
    request.body(Full::new(body.into())).unwrap()
}

/// Status, content type and body of the answer.
async fn ask(request: Request<Full<Bytes>>) -> (u16, String, Bytes) {
    let handler = Handler::new(HandlerSettings::default(), FailureLog::default()).unwrap();
    let response = answer(request, handler).await.unwrap();
    let (head, body) = response.into_parts();
    let content_type = head.headers[CONTENT_TYPE].to_str().unwrap().to_owned();
    (head.status.as_u16(), content_type, body.into_inner().unwrap_or_default())
}

async fn check_echo<C: Codec>(content_type: &str) {
    let mut message = BenchmarkMessage::from(benchmark_request());
    let (status, got_type, body) = ask(request("POST", SAY, content_type, C::encode(&message))).await;
    assert_eq!((status, got_type.as_str()), (200, C::CONTENT_TYPE));
    message.answer();
    assert_eq!(C::decode::<BenchmarkMessage>(body).unwrap(), message);
}

async fn check_payload<C: Codec>(length: usize) {
    let message = PayloadMessage { body: payload(length) };
    let (status, got_type, body) = ask(request("POST", EXCHANGE, C::CONTENT_TYPE, C::encode(&message))).await;
    assert_eq!((status, got_type.as_str()), (200, C::CONTENT_TYPE));
    assert_eq!(C::decode::<PayloadMessage>(body).unwrap(), message);
}

async fn check_refusal(request: Request<Full<Bytes>>, status: u16, code: Code) {
    let (got_status, content_type, body) = ask(request).await;
    assert_eq!((got_status, content_type.as_str()), (status, JSON_TYPE));
    let error: TwirpError = TwirpError::of_reply(got_status, &body);
    assert_eq!(error.code, code, "{error}");
    assert!(!error.meta.contains_key("http_error_from_intermediary"), "{error}");
}

#[tokio::test]
async fn a_call_is_answered_in_its_own_content_type() {
    check_echo::<Protobuf>(PROTOBUF).await;
    check_echo::<Protobuf>("Application/Protobuf ; x=y").await;
    check_echo::<Json>("application/json").await;
    check_echo::<Json>("application/json; charset=utf-8").await;
    check_echo::<Json>("application/json;charset=UTF-8").await;
    for length in [0, 1, 581, 1 << 20] {
        check_payload::<Protobuf>(length).await;
        check_payload::<Json>(length).await;
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_bad_route() {
    let body = Protobuf::encode(&BenchmarkMessage::from(benchmark_request()));
    let check = |method, path, content_type| check_refusal(request(method, path, content_type, body.clone()), 404, Code::BadRoute);
    for method in ["GET", "PUT", "HEAD", "DELETE", "OPTIONS"] {
        check(method, SAY, PROTOBUF).await;
    }
    for path in [
        "/",
        "/twirp/rpcbench.Echo/say",
        "/rpcbench.Echo/Say",
        "/twirp/rpcbench.Echo/Say/",
        "/twirp/rpcbench.Echo",
    ] {
        check("POST", path, PROTOBUF).await;
    }
    for content_type in ["", "text/plain", "application/x-protobuf", "application/jsonx", "application/grpc"] {
        check("POST", SAY, content_type).await;
    }
}

#[tokio::test]
async fn what_is_no_message_is_malformed() {
    for (content_type, body) in [
        (PROTOBUF, "\u{1}\u{2}\u{3}"),
        (JSON_TYPE, ""),
        (JSON_TYPE, "{"),
        (JSON_TYPE, "[1]"),
        (JSON_TYPE, "{}{}"),
    ] {
        for path in [SAY, EXCHANGE] {
            check_refusal(request("POST", path, content_type, body), 400, Code::Malformed).await;
        }
    }
    // A message of protobuf may be empty.
    assert_eq!(ask(request("POST", SAY, PROTOBUF, "")).await.0, 200);
}

#[tokio::test]
async fn what_is_too_large_is_refused_as_exhausted() {
    for content_type in [PROTOBUF, JSON_TYPE] {
        check_refusal(
            request("POST", EXCHANGE, content_type, vec![0; BODY_LIMIT + 1]),
            429,
            Code::ResourceExhausted,
        )
        .await;
    }
    check_payload::<Protobuf>(4 << 20).await;
    check_payload::<Json>(3 << 20).await;
}

#[tokio::test]
async fn every_code_has_a_status_that_http_knows() {
    for (code, _, status) in Code::TABLE {
        assert_eq!(refuse(&TwirpError::new(code, "")).status().as_u16(), status);
    }
}

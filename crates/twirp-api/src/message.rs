//! The suite's messages as one type for both codecs: prost gives them protobuf, pbjson its JSON.

use bench_core::message::{BenchmarkMessage as SuiteMessage, EchoMessage, Mutation};
use prost::Message as _;

#[allow(missing_docs)]
mod proto {
    include!(concat!(env!("OUT_DIR"), "/rpcbench.rs"));
    include!(concat!(env!("OUT_DIR"), "/rpcbench.serde.rs"));
}

pub use proto::{BenchmarkMessage, PayloadMessage};

impl EchoMessage for BenchmarkMessage {
    fn answer(&mut self) {
        self.field1.clear();
        self.field1.push_str("OK");
        self.field2 = 100;
    }

    fn mutate(&mut self, seed: u64) {
        let mutation = Mutation::of(seed);
        self.field3 = mutation.field3;
        self.field280 = Some(mutation.field280);
        self.field4 = Some(mutation.field4);
    }
}

/// Once per run, not per call.
impl From<SuiteMessage> for BenchmarkMessage {
    fn from(message: SuiteMessage) -> Self {
        Self::decode(message.encode_to_vec().as_slice()).expect("both types are generated from the same schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::message::{REPLY_BYTES, REQUEST_BYTES, TEXT, benchmark_reply, benchmark_request, payload};

    fn request() -> BenchmarkMessage {
        benchmark_request().into()
    }

    #[track_caller]
    fn check(text: &str, expected: &BenchmarkMessage) {
        let decoded: BenchmarkMessage = serde_json::from_str(text).unwrap();
        assert_eq!(decoded, *expected);
    }

    #[test]
    fn in_protobuf_it_is_the_suites_message() {
        assert_eq!(request().encode_to_vec(), benchmark_request().encode_to_vec());
        assert_eq!(request().encoded_len(), REQUEST_BYTES);
        let mut reply = request();
        reply.answer();
        assert_eq!(reply.encode_to_vec(), benchmark_reply().encode_to_vec());
        assert_eq!(reply.encoded_len(), REPLY_BYTES);
        let (mut ours, mut suites) = (request(), benchmark_request());
        ours.mutate(4711);
        suites.mutate(4711);
        assert_eq!(ours, suites.into());
    }

    #[test]
    fn in_json_the_request_is_1052_bytes_with_64_bit_numbers_as_texts_and_no_empty_field5() {
        let text = serde_json::to_string(&request()).unwrap();
        assert_eq!(text.len(), 1052);
        assert!(text.contains(r#""field22":"100000""#) && text.contains(r#""field6":100000"#));
        assert!(!text.contains("field5\""));
        check(&text, &request());

        let mut reply = request();
        reply.answer();
        assert_eq!(serde_json::to_string(&reply).unwrap().len(), 997);
    }

    #[test]
    fn numbers_are_read_from_numbers_and_from_texts() {
        let expected = BenchmarkMessage {
            field1: TEXT.to_owned(),
            field2: 1,
            field22: Some(-5_000_000_000),
            field5: vec![0, u64::MAX],
            ..Default::default()
        };
        let text = |two: &str, sixty_four: &str, fixed: &str| {
            format!(r#"{{"field1":"{TEXT}","field2":{two},"field3":0,"field22":{sixty_four},"field5":{fixed}}}"#)
        };
        check(&text("1", "-5000000000", "[0,18446744073709551615]"), &expected);
        check(&text(r#""1""#, r#""-5000000000""#, r#"["0","18446744073709551615"]"#), &expected);
        // What this side writes.
        let written = serde_json::to_string(&expected).unwrap();
        assert!(written.contains(r#""field5":["0","18446744073709551615"]"#), "{written}");
        check(&written, &expected);
    }

    #[test]
    fn absent_fields_are_absent_null_is_absent_and_unknown_ones_are_ignored() {
        let expected = BenchmarkMessage {
            field1: "a".to_owned(),
            field81: Some(false),
            ..Default::default()
        };
        check(
            r#"{"field1":"a","field2":0,"field3":0,"field81":false,"field9":null,"field999":[{}]}"#,
            &expected,
        );
        // Required fields are written even where they have their type's default value.
        let written = serde_json::to_string(&expected).unwrap();
        assert_eq!(written, r#"{"field1":"a","field81":false,"field2":0,"field3":0}"#);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in [
            "",
            "[]",
            "7",
            "{",
            r#"{"field2":"x"}"#,
            r#"{"field2":3000000000}"#,
            r#"{"field1":1}"#,
            "{}x",
        ] {
            assert!(serde_json::from_str::<BenchmarkMessage>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_are_base64() {
        for length in [0, 1, 2, 3, 581] {
            let message = PayloadMessage { body: payload(length) };
            let text = serde_json::to_string(&message).unwrap();
            assert_eq!(text.len(), r#"{"body":""}"#.len() + length.div_ceil(3) * 4);
            assert_eq!(serde_json::from_str::<PayloadMessage>(&text).unwrap(), message);
        }
        // With or without padding, in either alphabet.
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            let message: PayloadMessage = serde_json::from_str(&format!(r#"{{"body":"{text}"}}"#)).unwrap();
            assert_eq!(message.body[..], [0xfb, 0xff], "{text}");
        }
        assert!(serde_json::from_str::<PayloadMessage>(r#"{"body":"!"}"#).is_err());
    }
}

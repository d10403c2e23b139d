//! The benchmark's message in the library's own type.

use bench_core::message as suite;
use bench_core::message::{EchoMessage, Mutation};

use crate::BenchmarkMessage;

impl EchoMessage for BenchmarkMessage {
    fn answer(&mut self) {
        // Reuses the string's memory: the reply costs no allocation of ours.
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

/// Generated code ignores the schema's defaults: an optional field that is absent stays `None`. Nothing is lost here, as the suite's
/// message sets every field but the empty list.
impl From<suite::BenchmarkMessage> for BenchmarkMessage {
    fn from(message: suite::BenchmarkMessage) -> Self {
        Self {
            field1: message.field1,
            field2: message.field2,
            field3: message.field3,
            field4: message.field4,
            // Protobuf does not write an empty repeated field either.
            field5: (!message.field5.is_empty()).then(|| message.field5.into_iter().map(u64::cast_signed).collect()),
            field6: message.field6,
            field7: message.field7,
            field9: message.field9,
            field12: message.field12,
            field13: message.field13,
            field14: message.field14,
            field16: message.field16,
            field17: message.field17,
            field18: message.field18,
            field22: message.field22,
            field23: message.field23,
            field24: message.field24,
            field25: message.field25,
            field29: message.field29,
            field30: message.field30,
            field59: message.field59,
            field60: message.field60,
            field67: message.field67,
            field68: message.field68,
            field78: message.field78,
            field80: message.field80,
            field81: message.field81,
            field100: message.field100,
            field101: message.field101,
            field102: message.field102,
            field103: message.field103,
            field104: message.field104,
            field128: message.field128,
            field129: message.field129,
            field130: message.field130,
            field131: message.field131,
            field150: message.field150,
            field271: message.field271,
            field272: message.field272,
            field280: message.field280,
        }
    }
}

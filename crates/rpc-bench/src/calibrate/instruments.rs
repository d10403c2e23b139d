//! The clock, the histogram, the measured loop and the message, each by itself.

use std::hint::black_box;

use anyhow::Result;
use bench_core::codec::{Codec, Protobuf};
use bench_core::histogram::Times;
use bench_core::message::{BenchmarkMessage, EchoMessage as _, benchmark_reply, benchmark_request};
use bench_host::{CpuSet, now_ns};
use bench_load::null;
use serde::Serialize;

/// Repeats of each measurement; the median counts.
const REPEATS: usize = 9;
const CALLS: u64 = 1_000_000;
const ROUNDS: u64 = 20_000;

/// Nanoseconds each, medians.
#[derive(Debug, Serialize)]
pub struct Instruments {
    /// One reading of the clock.
    pub clock_reading_ns: f64,
    /// Recording one time in a histogram.
    pub histogram_record_ns: f64,
    /// One turn of the measured loop over the null client: no network, a Copy message, two clock readings and a record included.
    pub null_call_ns: f64,
    /// Making a request: a clone of the message.
    pub message_prepare_ns: f64,
    /// Encoding it to protobuf, into memory that is there.
    pub message_encode_ns: f64,
    /// Decoding a reply.
    pub message_decode_ns: f64,
    /// Comparing all fields of a reply with what they should be.
    pub message_compare_ns: f64,
    /// Turning a request into its reply, as the handler does.
    pub message_answer_ns: f64,
}

impl Instruments {
    /// Each with its name.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("clock reading", self.clock_reading_ns),
            ("histogram record", self.histogram_record_ns),
            ("measured loop over the null client, per call", self.null_call_ns),
            ("message: prepare (clone and drop)", self.message_prepare_ns),
            ("message: encode", self.message_encode_ns),
            ("message: decode (and drop)", self.message_decode_ns),
            ("message: compare all fields", self.message_compare_ns),
            ("message: answer", self.message_answer_ns),
        ]
    }
}

/// Measures on `cpus`.
pub(super) fn measure(cpus: &CpuSet) -> Result<Instruments> {
    // In a thread of its own: pinning this one would hold for all that comes later.
    let pinned = std::thread::scope(|scope| {
        let thread = scope.spawn(|| cpus.pin_thread().map(|()| by_themselves()));
        thread.join()
    });
    let mut instruments = match pinned {
        Ok(instruments) => instruments?,
        Err(_) => anyhow::bail!("a thread of calibrate panicked; its message is on standard error"),
    };
    let mut null_calls = Vec::new();
    for _ in 0..REPEATS {
        null_calls.push(null::run(CALLS, cpus)?.ns_per_call);
    }
    instruments.null_call_ns = median(null_calls);
    Ok(instruments)
}

fn by_themselves() -> Instruments {
    let (request, reply) = (benchmark_request(), benchmark_reply());
    let (mut bytes, mut encoded) = (Vec::new(), Vec::new());
    Protobuf::encode(&reply, &mut encoded);
    let mut times = Times::new();
    let mut time = 1;
    Instruments {
        clock_reading_ns: per_round(|| {
            black_box(now_ns());
        }),
        histogram_record_ns: per_round(|| {
            // Times as a run has them: in a few hundred buckets, not all in one.
            time = time % 1_000_003 + 7_919;
            times.record(black_box(time));
        }),
        null_call_ns: 0.0,
        message_prepare_ns: per_round(|| drop(black_box(request.clone()))),
        message_encode_ns: per_round(|| {
            bytes.clear();
            Protobuf::encode(black_box(&request), &mut bytes);
        }),
        message_decode_ns: per_round(|| {
            let decoded: Result<BenchmarkMessage, _> = Protobuf::decode(black_box(&encoded));
            drop(black_box(decoded));
        }),
        message_compare_ns: per_round(|| {
            black_box(*black_box(&reply) == reply);
        }),
        message_answer_ns: {
            let mut message = request.clone();
            per_round(|| black_box(&mut message).answer())
        },
    }
}

/// Median nanoseconds of one round.
pub(crate) fn per_round(mut round: impl FnMut()) -> f64 {
    let repeat = |_| {
        let start = now_ns();
        (0..ROUNDS).for_each(|_| round());
        (now_ns() - start) as f64 / ROUNDS as f64
    };
    median((0..REPEATS).map(repeat).collect())
}

fn median(figures: Vec<f64>) -> f64 {
    bench_core::units::median(&figures).unwrap_or_default()
}

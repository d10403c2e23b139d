//! Against the simulated delay: no call is shorter, and the callers make no more calls than fit.

use super::{Judgement, OF_ONE_RUN};
use crate::audit::facts::RowFacts;
use crate::audit::quantity::Quantity;
use bench_core::units::{grouped, time};

pub(super) fn check(row: &RowFacts, judgement: &mut Judgement) {
    let Some(delay) = row.get(Quantity::Delay).filter(|delay| delay.low > 0.0) else {
        return;
    };
    let times = row.figures.iter().filter(|(quantity, _)| quantity.is_time_of_a_call());
    let mut shorter = times.clone().filter(|(_, time)| delay.is_above(**time, 0.0));
    if times.clone().next().is_some() {
        judgement.checked.push("delay");
    }
    if let Some((quantity, interval)) = shorter.next() {
        judgement.invalid.push(format!(
            "{quantity} {} is less than the delay of {}",
            time(interval.middle()),
            time(delay.middle())
        ));
    }
    if let (Some(throughput), Some(callers)) = (row.get(Quantity::Throughput), row.get(Quantity::Callers)) {
        judgement.checked.push("theory");
        let most = callers.over(delay).scaled(1e9);
        judgement.invalid_if(throughput.is_above(most, OF_ONE_RUN), || {
            format!(
                "{} calls/s is above callers / delay = {}",
                grouped(throughput.middle()),
                grouped(most.high)
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use bench_core::verdict::Verdict;

    use super::super::tests::{check, good};

    #[test]
    fn no_call_is_shorter_than_the_delay() {
        check(
            "delay (ms),min (ms),p99 (ms)\n10,9.7,12.0\n",
            Verdict::Invalid,
            "min 9.70 ms is less than the delay of 10.0 ms",
        );
        check(
            "delay,mean (ms)\n30 ms,12.0\n",
            Verdict::Invalid,
            "mean 12.0 ms is less than the delay",
        );
        good("delay (ms),min (ms),p99 (ms)\n10,10.0,12.0\n");
        // Whole milliseconds may be cut off: 9 can be up to 10.
        good("delay (ms),min (ms),p99 (ms)\n10,9,12\n");
    }

    #[test]
    fn no_more_calls_are_made_than_fit_between_delays() {
        check(
            "delay (ms),c,TPS\n10,100,10200\n",
            Verdict::Invalid,
            "10,200 calls/s is above callers / delay = 10,000",
        );
        good("delay (ms),c,TPS\n10,100,10090\n");
        good("delay (ms),c,TPS\n0,100,50000\n");
    }
}

"""PyPI hdrhistogram on a record of our client, a file: the histogram says what the record's figures say."""

import json
import sys

from benchmark import expect, same
from hdrh.histogram import HdrHistogram

record = json.loads(open(sys.argv[1], encoding="utf-8").read())
times = record["service_time_ns"]
histogram = HdrHistogram.decode(times["histogram_v2"])

same("count", histogram.get_total_count(), times["count"])
same("count of the good calls", times["count"], record["calls"]["ok"])
# Exact figures stand beside the histogram; its own are those of the bucket, three digits wide.
for name, got in (("min", histogram.get_min_value()), ("max", histogram.get_max_value()), ("mean", histogram.get_mean_value())):
    expect(f"{name}: {got} is not within 0.1 % of {times[name]}", abs(got - times[name]) <= 0.001 * times[name] + 1)
for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p99_9", 99.9)):
    # The two round the rank of a percentile differently: one call more or less.
    one_call = 100 / times["count"]
    least = histogram.get_value_at_percentile(percent - one_call)
    most = histogram.get_value_at_percentile(min(percent + one_call, 100))
    want = times[name]
    # The record clamps to the exact greatest time.
    expect(f"{name}: {want} is not from {least} to {most}, give or take 0.1 %", 0.999 * least - 1 <= want <= 1.001 * most + 1)
# Addition is what makes one histogram of several rounds.
twice = HdrHistogram.decode(times["histogram_v2"])
twice.add(histogram)
same("count of twice the histogram", twice.get_total_count(), 2 * times["count"])

"""The statistics of bench-stats once more, by scipy and exact arithmetic: cases as JSON on stdin, answers in the same order on stdout.

Means and deviations are of fractions, logarithms of 60 decimal digits, so that what differs is the other side's error.
"""

import itertools
import json
import math
import statistics
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy
from scipy import optimize, stats

getcontext().prec = 60


def root(fraction):
    """Square root of a fraction, as a fraction."""
    return Fraction((Decimal(fraction.numerator) / Decimal(fraction.denominator)).sqrt())


def two_sided(t, freedom):
    return 2 * stats.t.sf(abs(t), freedom)


def interval_of(figures, confidence):
    """Of exact figures: mean, ends, standard deviation, p-value."""
    count = len(figures)
    mean = sum(figures) / count
    sd = root(sum((figure - mean) ** 2 for figure in figures) / (count - 1))
    error = sd / root(Fraction(count))
    half = Fraction(float(stats.t.isf((1 - confidence) / 2, count - 1))) * error
    if sd == 0:
        p_value = 1.0 if mean == 0 else 0.0
    else:
        p_value = two_sided(float(mean / error), count - 1)
    return mean, mean - half, mean + half, sd, p_value


def agree(ours, scipys):
    assert math.isclose(ours, scipys, rel_tol=1e-9), (ours, scipys)


def interval(values, confidence):
    mean, low, high, sd, p_value = interval_of([Fraction(value) for value in values], confidence)
    if 1e-100 < abs(mean) < 1e100 and sd > abs(mean) / 1000:
        # Where numpy's own arithmetic will do, this is the function that everybody uses.
        test = stats.ttest_1samp(values, 0)
        agree(p_value, test.pvalue)
        agree(float(high - low), numpy.diff(test.confidence_interval(confidence))[0])
    return {"estimate": float(mean), "low": float(low), "high": float(high), "count": len(values), "sd": float(sd), "p_value": p_value}


def ratio(values, control, confidence):
    logs = [Fraction((Decimal(value) / Decimal(control)).ln()) for value, control in zip(values, control)]
    mean, low, high, sd, p_value = interval_of(logs, confidence)
    if sd > Fraction(1, 1000):
        agree(p_value, stats.ttest_rel(numpy.log(values), numpy.log(control)).pvalue)
    return {
        "ratio": math.exp(mean),
        "low": math.exp(low),
        "high": math.exp(high),
        "pairs": len(values),
        "sd_log": float(sd),
        "p_value": p_value,
    }


def change(old, new, sd_log, freedom, confidence):
    logs = [[Fraction(Decimal(value).ln()) for value in side] for side in (old, new)]
    means = [sum(side) / len(side) for side in logs]
    parts = [(sum((log - mean) ** 2 for log in side) / (len(side) - 1) / len(side), len(side) - 1) for side, mean in zip(logs, means)]
    parts.append((2 * Fraction(sd_log) ** 2, freedom))
    variance = sum(part for part, _ in parts)
    difference = means[1] - means[0]
    if variance == 0:
        half, all_freedom = 0, sum(freedom for _, freedom in parts)
        p_value = 1.0 if difference == 0 else 0.0
    else:
        all_freedom = float(variance**2 / sum(part**2 / freedom for part, freedom in parts))
        half = Fraction(float(stats.t.isf((1 - confidence) / 2, all_freedom))) * root(variance)
        p_value = two_sided(float(difference / root(variance)), all_freedom)
    if sd_log == 0 and min(numpy.std(numpy.log(side)) for side in (old, new)) > 1e-3:
        test = stats.ttest_ind(numpy.log(new), numpy.log(old), equal_var=False)
        agree(p_value, test.pvalue)
        agree(all_freedom, test.df)
        agree(math.exp(difference - half), math.exp(test.confidence_interval(confidence).low))
    return {
        "ratio": math.exp(difference),
        "low": math.exp(difference - half),
        "high": math.exp(difference + half),
        "freedom": float(all_freedom),
        "p_value": p_value,
    }


def holm(p_values):
    """From the definition: step through the sorted p-values while each is at most alpha / (tests left); the least such alpha of each."""
    adjusted = []
    for p_value in p_values:
        smaller = sorted(other for other in p_values if other <= p_value)
        adjusted.append(min(1.0, max(other * (len(p_values) - sum(one < other for one in p_values)) for other in smaller)))
    return adjusted


def rank(stacks, better, alpha):
    logs = numpy.log(numpy.array(stacks))
    indices = list(itertools.combinations(range(len(stacks)), 2))
    p_values = [stats.ttest_rel(logs[one], logs[other]).pvalue for one, other in indices]
    pairs, ahead, behind = [], [0] * len(stacks), [0] * len(stacks)
    for (one, other), p_value, adjusted in zip(indices, p_values, holm(p_values)):
        difference = (logs[one] - logs[other]).mean()
        pairs.append({"first": one, "second": other, "ratio": math.exp(difference), "p_value": p_value, "p_holm": adjusted})
        if adjusted <= alpha:
            first_wins = (difference > 0) == (better == "higher")
            winner, loser = (one, other) if first_wins else (other, one)
            ahead[loser] += 1
            behind[winner] += 1
    ranges = [{"best": 1 + ahead[stack], "worst": len(stacks) - behind[stack]} for stack in range(len(stacks))]
    return {"ranges": ranges, "pairs": pairs}


def trend(slices):
    count = len(slices)
    time = numpy.arange(count)
    _, ties = numpy.unique(slices, return_counts=True)
    slope = stats.theilslopes(slices, time).slope
    if len(ties) == 1:
        return {"tau": 0.0, "slope": slope, "p_value": 1.0}
    by_scipy = stats.kendalltau(time, slices, method="asymptotic")
    tau = by_scipy.statistic
    pairs = count * (count - 1) / 2
    s = round(tau * math.sqrt(pairs * (pairs - (ties * (ties - 1) / 2).sum())))
    variance = (count * (count - 1) * (2 * count + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
    agree(2 * stats.norm.sf(abs(s) / math.sqrt(variance)), by_scipy.pvalue)
    z = max(abs(s) - 1, 0) / math.sqrt(variance)
    return {"tau": tau, "slope": slope, "p_value": min(1.0, 2 * stats.norm.sf(z))}


def step(slices):
    edge, best, places = 3, None, 0
    for at in range(edge, len(slices) - edge + 1):
        before, after = slices[:at], slices[at:]
        if len(set(before)) == 1 and len(set(after)) == 1:
            t, p_value = (0.0, 1.0) if before[0] == after[0] else (math.inf, 0.0)
        else:
            test = stats.ttest_ind(after, before)
            t, p_value = abs(test.statistic), test.pvalue
        places += 1
        if best is None or t > best[0]:
            best = (t, p_value, at)
    at = best[2]
    return {
        "at": at,
        "before": statistics.mean(slices[:at]),
        "after": statistics.mean(slices[at:]),
        "p_value": min(1.0, best[1] * places),
    }


def steady(slices):
    return {"trend": trend(slices), "step": step(slices)}


def outliers(values):
    center = numpy.median(values)
    sd = stats.median_abs_deviation(values, scale="normal")
    if sd == 0:
        sd = numpy.abs(numpy.array(values) - center).mean() * math.sqrt(math.pi / 2)
    if sd == 0:
        return []
    scores = [(value - center) / sd for value in values]
    return [
        {"index": index, "value": value, "score": score}
        for index, (value, score) in enumerate(zip(values, scores))
        if abs(score) > 3.5
    ]


def power_of(pairs, shift, alpha):
    """The square of a noncentral t is a noncentral F."""
    critical = stats.t.isf(alpha / 2, pairs - 1) ** 2
    return float(stats.ncf.sf(critical, 1, pairs - 1, shift**2) if shift else stats.f.sf(critical, 1, pairs - 1))


def power(pairs, ratio, sd_log, alpha):
    return power_of(pairs, abs(math.log(ratio)) * math.sqrt(pairs) / sd_log, alpha)


def detectable(pairs, sd_log, alpha, power):
    shift = optimize.brentq(lambda shift: power_of(pairs, shift, alpha) - power, 1e-3, 20, xtol=1e-13)
    return math.exp(shift * sd_log / math.sqrt(pairs))


def needed(ratio, sd_log, alpha, power):
    log_ratio = abs(math.log(ratio))
    return next(pairs for pairs in itertools.count(6) if power_of(pairs, log_ratio * math.sqrt(pairs) / sd_log, alpha) >= power)


ANSWERS = {
    "interval": interval,
    "ratio": ratio,
    "change": change,
    "rank": rank,
    "steady": steady,
    "outliers": outliers,
    "power": power,
    "detectable": detectable,
    "needed": needed,
}

answers = [ANSWERS[case["kind"]](**case["input"]) for case in json.load(sys.stdin)]
json.dump(answers, sys.stdout, allow_nan=False)

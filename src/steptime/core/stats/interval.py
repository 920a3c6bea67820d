"""A confidence interval of the mean step time that survives autocorrelated steps.

Steps on a busy machine are slow in runs, so the textbook standard error is far too small. Two estimates are made,
and the wider one is taken:
- batch means: the steps in batches of 1, 2, 4, ... steps, as long as there are 8 batches; the widest of those;
- effective sample: n (1 - r) / (1 + r) independent steps, r the lag-1 autocorrelation, corrected for its bias and
  raised by half its standard error, because underestimating r silently narrows the interval.
The first is right for long series of any dependence, the second for short series of the usual kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Union

import numpy as np

Seconds = Union[Sequence[float], "np.ndarray[Any, Any]"]
LEVEL = 0.95
FEWEST_BATCHES = 8
FEWEST_EFFECTIVE = 4
"""a short series with a trend looks like hardly more than one step; below this the quantile of t explodes and says nothing"""
METHOD = f"wider of batch means (at least {FEWEST_BATCHES} batches) and effective sample size"


@dataclass(frozen=True)
class Interval:
    mean: float
    low: float
    high: float

    @property
    def relative_half_width(self) -> float:
        return (self.high - self.low) / (2 * self.mean) if self.mean > 0 else math.inf


def mean_interval(values: Seconds, level: float = LEVEL) -> Interval:
    """The interval of a single value is unbounded: its spread is unknown."""
    series = np.asarray(values, dtype=np.float64)
    mean = float(series.mean())
    if len(series) < 2:
        return Interval(mean, 0.0, math.inf)
    half = max(_batch_means(series, level), _effective_sample(series, level))
    return Interval(mean, max(mean - half, 0.0), mean + half)


def _batch_means(series: np.ndarray[Any, Any], level: float) -> float:
    width, widest = 1, 0.0
    while width == 1 or len(series) // width >= FEWEST_BATCHES:
        count = len(series) // width
        means = series[len(series) - count * width :].reshape(count, width).mean(1)
        error = float(means.std(ddof=1)) / math.sqrt(count)
        widest = max(widest, quantile(0.5 + level / 2, count - 1) * error)
        width *= 2
    return widest


def effective_steps(values: Seconds) -> float:
    """How many independent steps would give the same information about the mean."""
    series = np.asarray(values, dtype=np.float64)
    count = len(series)
    centred = series - series.mean()
    power = float(centred @ centred)
    if power == 0 or count < 3:
        return float(count)
    lag = float(centred[1:] @ centred[:-1]) / power
    lag = min(max(lag + (1 + 4 * lag) / count + 0.5 / math.sqrt(count), 0.0), 0.99)
    return max(count * (1 - lag) / (1 + lag), float(min(count, FEWEST_EFFECTIVE)))


def _effective_sample(series: np.ndarray[Any, Any], level: float) -> float:
    effective = effective_steps(series)
    return quantile(0.5 + level / 2, effective - 1) * float(series.std(ddof=1)) / math.sqrt(effective)


def quantile(probability: float, freedom: float) -> float:
    """Two exact cases, else Hill's expansion (CACM algorithm 396): four digits or better from 1 degree of freedom on."""
    tail = 2 * (1 - probability)
    if freedom <= 1:
        return math.tan(math.pi * (probability - 0.5)) if freedom == 1 else math.inf
    if freedom == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    a = 1 / (freedom - 0.5)
    b = 48 / (a * a)
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * freedom
    y = (d * tail) ** (2 / freedom)
    if y > 0.05 + a:
        return _middle(tail, freedom, a, b, c, d)
    y = ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) * y - 1) * (
        freedom + 1
    ) / (freedom + 2) + 1 / y
    return math.sqrt(freedom * y)


def _middle(tail: float, freedom: float, a: float, b: float, c: float, d: float) -> float:
    x = NormalDist().inv_cdf(tail / 2)
    y = x * x
    if freedom < 5:
        c += 0.3 * (freedom - 4.5) * (x + 0.6)
    c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    y = a * y * y
    y = math.expm1(y)
    return math.sqrt(freedom * y)

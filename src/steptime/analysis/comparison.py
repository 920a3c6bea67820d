"""How much faster one thing is than another, with an interval, and a verdict that knows when it does not know.

Everything is done on logarithms, where a ratio is a difference and 2% more is as far as 2% less. What one run says of
itself is the interval of its steps; what several runs say is their spread, which also holds what differs from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from steptime.core.schema import Change
from steptime.core.stats.interval import LEVEL, quantile

MARGIN = 0.02
"""differences within this are of no consequence: `same`"""
UNMISTAKABLE = 1.5
"""a ratio this far from 1 is believed without an interval: runs of the same thing do not differ by that much"""
MANY = 1e6
"""degrees of freedom of an interval that came from many steps"""


@dataclass(frozen=True)
class Estimate:
    """Of the logarithm of a positive figure."""

    centre: float
    variance: Optional[float]
    """None: nothing is known of it"""
    freedom: float
    runs: int


@dataclass(frozen=True)
class Ratio:
    value: float
    low: Optional[float]
    high: Optional[float]


def of_runs(values: Sequence[float]) -> Estimate:
    """Of several runs: their geometric mean and its error."""
    logs = [math.log(value) for value in values]
    centre = math.fsum(logs) / len(logs)
    if len(logs) < 2:
        return Estimate(centre, None, MANY, len(logs))
    spread = math.fsum((x - centre) ** 2 for x in logs) / (len(logs) - 1)
    return Estimate(centre, spread / len(logs), len(logs) - 1, len(logs))


def of_interval(value: float, low: Optional[float], high: Optional[float]) -> Estimate:
    """Of one run that has an interval."""
    if low is None or high is None or low <= 0:
        return Estimate(math.log(value), None, MANY, 1)
    error = math.log(high / low) / 2 / quantile(0.5 + LEVEL / 2, MANY)
    return Estimate(math.log(value), error * error, MANY, 1)


def ratio(pairs: Sequence[tuple[Estimate, Estimate]]) -> Ratio:
    """Second over first, the geometric mean over the pairs; the interval is Welch's, of these pairs and not of others."""
    count = len(pairs)
    centre = math.fsum(b.centre - a.centre for a, b in pairs) / count
    estimates = [estimate for pair in pairs for estimate in pair]
    if any(e.variance is None for e in estimates):
        return Ratio(math.exp(centre), None, None)
    parts = [(e.variance or 0.0) / count**2 for e in estimates]
    total = math.fsum(parts)
    if total == 0:
        return Ratio(math.exp(centre), math.exp(centre), math.exp(centre))
    freedom = total**2 / math.fsum(p * p / e.freedom for p, e in zip(parts, estimates))
    half = quantile(0.5 + LEVEL / 2, freedom) * math.sqrt(total)
    return Ratio(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def interval(estimate: Estimate) -> Ratio:
    """The figure itself with its interval."""
    if estimate.variance is None:
        return Ratio(math.exp(estimate.centre), None, None)
    half = quantile(0.5 + LEVEL / 2, estimate.freedom) * math.sqrt(estimate.variance)
    return Ratio(math.exp(estimate.centre), math.exp(estimate.centre - half), math.exp(estimate.centre + half))


def verdict(ratio: Ratio, margin: float = MARGIN) -> Change:
    """Same when the whole interval is within the margin, more or less when 1 is outside it.

    Without an interval it is more or less from a factor of UNMISTAKABLE on, else undecided.
    """
    if ratio.low is None or ratio.high is None:
        more, less = ratio.value >= UNMISTAKABLE, ratio.value <= 1 / UNMISTAKABLE
        return Change.MORE if more else Change.LESS if less else Change.UNDECIDED
    if ratio.low >= 1 - margin and ratio.high <= 1 + margin:
        return Change.SAME
    return Change.MORE if ratio.low > 1 else Change.LESS if ratio.high < 1 else Change.UNDECIDED

"""Finds the largest batch that fits, by doubling and bisection."""

from __future__ import annotations

from collections.abc import Callable

from steptime.core.errors import CaseFailed
from steptime.core.schema import Status

LARGEST_BATCH = 2**31 - 1
PRECISION = 16
"""the answer is exact below 16 samples, and within 1/16 of the truth above"""


def largest_batch(first: int, fits: Callable[[int], bool]) -> int:
    """Doubles from `first` until it no longer fits, then halves the gap. Raises if not even 1 fits."""
    good, bad = (first, 0) if fits(first) else (0, first)
    while good and not bad and good < LARGEST_BATCH:
        attempt = min(2 * good, LARGEST_BATCH)
        good, bad = (attempt, 0) if fits(attempt) else (good, attempt)
    while bad - good > max(1, good // PRECISION):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    if not good:
        raise CaseFailed(Status.OUT_OF_MEMORY, "not even a batch of 1 fits into memory")
    return good

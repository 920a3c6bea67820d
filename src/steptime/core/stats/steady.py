"""Where the steady part of a series of step times begins.

The rule is MSER (White 1997) on means of 5 steps (of 1 step while there are fewer than 50): drop steps from the start
so that the squared standard error of the mean of the rest is least, at the most half of them, and never fewer than a
minimum. It finds compilation, cache filling and clock ramps alike. Taken literally it also hunts for the quietest
stretch of plain noise, which would flatter the interval; so the shortest cut is taken that comes within a quarter of the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

Seconds = Union[Sequence[float], "np.ndarray[Any, Any]"]

MINIMUM_WARMUP_STEPS = 3
TOLERANCE = 1.25
RULE = f"MSER-5 (shortest cut within {TOLERANCE} of the best, first half), at least {MINIMUM_WARMUP_STEPS} steps"


def steady_start(seconds: Seconds) -> int:
    """Index of the first steady step. Too short a series keeps its last step, whatever it is."""
    count = len(seconds)
    least = min(MINIMUM_WARMUP_STEPS, max(count - 1, 0))
    rest = np.asarray(seconds[least:], dtype=np.float64)
    width = 5 if len(rest) >= 50 else 1
    blocks = len(rest) // width
    if blocks < 4:
        return least
    means = rest[: blocks * width].reshape(blocks, width).mean(1)
    return least + width * _leading_values_to_drop(means)


def _leading_values_to_drop(means: np.ndarray[Any, Any]) -> int:
    tail = means[::-1] - means.mean()
    sizes = np.arange(1, len(tail) + 1)
    squares = np.cumsum(tail * tail) - np.cumsum(tail) ** 2 / sizes
    scores = (np.maximum(squares, 0) / sizes**2)[::-1]
    allowed = scores[: len(means) // 2 + 1]
    return int(np.argmax(allowed <= TOLERANCE * allowed.min()))

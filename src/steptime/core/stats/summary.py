"""The steady part of a case's steps, and its figures, computed from the raw steps alone.

The steady part begins where MSER (White 1997) says, on means of 5 steps (of 1 step while there are fewer than 50): drop steps
from the start so that the squared standard error of the mean of the rest is least, at the most half of them, and never fewer
than a minimum. It finds compilation, cache filling and clock ramps alike. Taken literally it also hunts for the quietest
stretch of plain noise, which would flatter the interval; so the shortest cut is taken that comes within a quarter of the best.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steptime.core.schema import Summary
from steptime.core.stats.interval import LEVEL, METHOD, Seconds, mean_interval

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


def summarise(seconds: Seconds, effective_batch: int) -> Summary:
    """Of the steady steps. Uncertainty and jitter are tf_cnn_benchmarks' definitions, so that old figures compare."""
    times = np.asarray(seconds, dtype=np.float64)
    speeds = effective_batch / times
    interval = mean_interval(times)
    p50, p90, p95, p99 = (float(q) for q in np.percentile(times, (50, 90, 95, 99)))
    return Summary(
        n=len(times),
        effective_batch=effective_batch,
        mean_seconds=interval.mean,
        mean_speed=effective_batch / interval.mean,
        uncertainty=float(speeds.std()) / math.sqrt(len(times)),
        jitter=1.4826 * float(np.median(np.abs(speeds - np.median(speeds)))),
        ci_level=LEVEL,
        ci_low=effective_batch / interval.high,
        ci_high=effective_batch / interval.low if interval.low > 0 else effective_batch / float(times.min()),
        ci_method=METHOD,
        p50_seconds=p50,
        p90_seconds=p90,
        p95_seconds=p95,
        p99_seconds=p99,
        min_seconds=float(times.min()),
        max_seconds=float(times.max()),
    )

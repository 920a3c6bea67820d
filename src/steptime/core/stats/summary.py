"""The figures of one case, computed from its raw steps alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steptime.core.schema import Summary
from steptime.core.stats.interval import LEVEL, METHOD, mean_interval


def summarise(seconds: Sequence[float], effective_batch: int) -> Summary:
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

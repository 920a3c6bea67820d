"""When a case has been measured well enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from steptime.core.schema import Budget, StopReason
from steptime.core.stats.interval import effective_steps, mean_interval
from steptime.core.stats.summary import MINIMUM_WARMUP_STEPS, steady_start

GROWTH = 1.2
"""the data are examined only after they have grown by this factor: examining every step would stop on lucky runs"""
LOOKS = 2
"""consecutive looks that must find the target met, for the same reason"""
FEWEST_STEPS = MINIMUM_WARMUP_STEPS + 2
"""a minimum whatever the time: a figure of first steps only would measure the compiler"""
EFFECTIVE_STEPS = 16
"""fewer independent steps say too little about their autocorrelation"""


class Stopping:
    """Looks at the steps after each block, until there is a reason to stop."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._next_look = 0
        self._met = 0

    def reason(self, seconds: Sequence[float], spent_seconds: float) -> Optional[StopReason]:
        budget = self._budget
        if len(seconds) >= budget.max_steps:
            return StopReason.STEPS
        if len(seconds) < FEWEST_STEPS:
            return None
        if spent_seconds >= budget.max_seconds:
            return StopReason.SECONDS
        if len(seconds) < max(self._next_look, budget.min_steps):
            return None
        self._next_look = int(len(seconds) * GROWTH) + 1
        steady = seconds[steady_start(seconds) :]
        enough = len(steady) >= budget.min_steps and effective_steps(steady) >= min(EFFECTIVE_STEPS, budget.min_steps)
        met = enough and mean_interval(steady).relative_half_width <= budget.target
        self._met = self._met + 1 if met else 0
        return StopReason.TARGET if self._met >= LOOKS else None

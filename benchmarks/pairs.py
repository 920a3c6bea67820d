"""Prints, one per line: mean step under steptime / mean step of a loop written by hand.

Both run the same network on the same batch in one process; blocks alternate and each goes first in half of the pairs, so
that whatever else the machine does falls on both alike. What steptime does between its blocks counts against it.
"""

import time
from collections.abc import Callable

from steptime.backends.base import Program
from steptime.schema import Budget
from steptime.worker.loop import measure

WARM_UP_PAIRS = 2


def compare(program: Program, step: Callable[[], object], steps: int, pairs: int) -> None:
    budget = Budget(max_steps=steps, min_steps=10**9, max_seconds=1e9)

    def ours() -> None:
        assert len(measure(program, budget, lambda seconds: None).seconds) == steps

    def bare() -> None:
        for _ in range(steps):
            step()

    for pair in range(pairs + WARM_UP_PAIRS):
        order = (ours, bare) if pair % 2 else (bare, ours)
        seconds = {way: _seconds(way) for way in order}
        if pair >= WARM_UP_PAIRS:
            print(seconds[ours] / seconds[bare], flush=True)


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began

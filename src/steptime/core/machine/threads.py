"""How many threads really worked: a framework may use another number than it was configured for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from steptime.core.machine.cpus import read

BUSY_SHARE = 0.25
"""of the busiest thread's time: threads of a pool share the work about equally, other threads of a framework are almost idle"""
SHORTEST_SECONDS = 0.1
"""for less nothing can be concluded"""


def thread_seconds() -> dict[int, float]:
    """CPU seconds of each thread of this process."""
    seconds = {}
    for task in Path("/proc/self/task").glob("*"):
        fields = read(task / "schedstat").split()
        if fields:
            seconds[int(task.name)] = int(fields[0]) / 1e9
    return seconds


def busy_threads(before: Mapping[int, float], after: Mapping[int, float]) -> Optional[int]:
    """Between two readings; None where the kernel has no counters or no thread worked long enough."""
    spent = [seconds - before.get(thread, 0.0) for thread, seconds in after.items()]
    most = max(spent, default=0.0)
    return sum(seconds >= BUSY_SHARE * most for seconds in spent) if most >= SHORTEST_SECONDS else None

"""How many threads really worked: what a framework was told and what it does are two things."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from steptime.core.machine.cpus import read

BUSY_SHARE = 0.25
"""of the busiest thread's time: a pool shares its work about equally, helpers of the framework hardly work at all"""
SHORTEST_SECONDS = 0.1
"""below this nothing can be said"""


def thread_seconds() -> dict[int, float]:
    """CPU seconds of each thread of this process."""
    found = {}
    for task in Path("/proc/self/task").glob("*"):
        fields = read(task / "schedstat").split()
        if fields:
            found[int(task.name)] = int(fields[0]) / 1e9
    return found


def busy_threads(before: Mapping[int, float], after: Mapping[int, float]) -> Optional[int]:
    """Between two looks; None where the kernel does not tell or nothing worked long enough."""
    spent = [seconds - before.get(thread, 0.0) for thread, seconds in after.items()]
    most = max(spent, default=0.0)
    return sum(seconds >= BUSY_SHARE * most for seconds in spent) if most >= SHORTEST_SECONDS else None

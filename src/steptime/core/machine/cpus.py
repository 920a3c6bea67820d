"""How many CPUs this process may use, by affinity and cgroup quota, and how many of its threads really work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

CGROUP = Path("/sys/fs/cgroup")
BUSY_SHARE = 0.25
"""of the busiest thread's time: threads of a pool share the work about equally, other threads of a framework are almost idle"""
SHORTEST_SECONDS = 0.1
"""for less nothing can be concluded"""


def affinity() -> list[int]:
    try:
        return sorted(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return list(range(os.cpu_count() or 1))


def usable_cpus() -> float:
    quota = cgroup_quota()
    allowed = float(len(affinity()))
    return min(allowed, quota) if quota else allowed


def usable_threads() -> int:
    """The default number of threads of a case."""
    return max(1, int(usable_cpus()))


def cgroup_quota(root: Path = CGROUP, membership: Path = Path("/proc/self/cgroup")) -> Optional[float]:
    """CPUs' worth of time that the process's cgroups allow, the tightest of them; None without a limit."""
    quotas = []
    for folder in cgroup_folders("cpu", root, membership):
        words = read(folder / "cpu.max").split()
        if len(words) == 2 and words[0] != "max":
            quotas.append(int(words[0]) / int(words[1]))
        quota, period = read(folder / "cpu.cfs_quota_us"), read(folder / "cpu.cfs_period_us")
        if quota and period and int(quota) > 0:
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def cgroup_folders(controller: str, root: Path = CGROUP, membership: Path = Path("/proc/self/cgroup")) -> list[Path]:
    """The process's own cgroup folder and those above it, of version 2 and of the given version 1 controller."""
    folders = []
    for line in read(membership).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or controller in controllers.split(","):
            base = root / controller if controllers and (root / controller).is_dir() else root
            here = Path(path.lstrip("/"))
            folders += [base / here, *(base / parent for parent in here.parents)]
    return folders


def read(path: Path) -> str:
    """The stripped text of a small system file; empty if it does not exist."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


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

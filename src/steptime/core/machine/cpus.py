"""How many CPUs this process may use: by affinity and cgroup quota, not by what the machine has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

CGROUP = Path("/sys/fs/cgroup")


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

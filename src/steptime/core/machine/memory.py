"""Memory: of the machine, usable by this process, and used at its peak."""

from __future__ import annotations

import os
from pathlib import Path

from steptime.core.machine.cpus import cgroup_folders, read

UNLIMITED = 1 << 60
KILLS = ("memory.events", "memory.oom_control")
"""of cgroups version 2 and 1"""


def meminfo(key: str) -> int:
    """Bytes of one line of /proc/meminfo; 0 where there is none."""
    return _kilobytes(Path("/proc/meminfo"), key)


def total_bytes() -> int:
    return meminfo("MemTotal") or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def usable_bytes() -> int:
    """The machine's memory, or the cgroup's limit if that is less."""
    limits = [total_bytes()]
    for folder in cgroup_folders("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = read(folder / name)
            if text.isdigit() and int(text) < UNLIMITED:
                limits.append(int(text))
    return min(limits)


def available_bytes() -> int:
    """What can be allocated now without swapping others out."""
    return min(meminfo("MemAvailable") or usable_bytes(), usable_bytes())


def memory_kills() -> int:
    """How many processes the kernel killed because memory ran out, in this cgroup, its siblings and its ancestors."""
    folders = cgroup_folders("memory")
    own = next((folder for folder in folders if (folder / KILLS[1]).exists()), None)
    beside = own.parent.glob(f"*/{KILLS[1]}") if own else ()  # version 2 counts them above as well
    paths = {folder / name for folder in folders for name in KILLS}.union(beside)
    lines = (line.split() for path in paths for line in read(path).splitlines())
    return sum(int(words[1]) for words in lines if words[0] == "oom_kill")


def peak_rss_bytes() -> int:
    """Of this process. Not ru_maxrss, which a child inherits from the process that started it."""
    peak = _kilobytes(Path("/proc/self/status"), "VmHWM")
    if peak:
        return peak
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def tree_rss_bytes() -> int:
    """Resident memory of this process and all its descendants, now. Shared pages count for each."""
    page = os.sysconf("SC_PAGE_SIZE")
    total, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        words = read(Path(f"/proc/{pid}/statm")).split()
        total += int(words[1]) * page if len(words) > 1 else 0
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            todo += [int(child) for child in read(task).split()]
    return total


def _kilobytes(path: Path, key: str) -> int:
    for line in read(path).splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return 0

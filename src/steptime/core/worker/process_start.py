"""When this process began. Needs nothing, so that a failure to import anything else can still be dated."""

from __future__ import annotations

import os
import time
from datetime import datetime, timezone


def utc(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).isoformat(timespec="milliseconds")


def process_start_time() -> float:
    """When this process was started, as a time of day: what the interpreter took before our first line counts too."""
    try:
        with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
            ticks = int(stat.read().rpartition(")")[2].split()[19])
            age = float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
        return time.time() - age
    except (OSError, ValueError, IndexError):
        return time.time()

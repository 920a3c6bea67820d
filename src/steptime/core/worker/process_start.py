"""When this process started. Imports almost nothing, so that a failure to import anything else can be dated."""

from __future__ import annotations

import os
import time
from datetime import datetime, timezone


def utc(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).isoformat(timespec="milliseconds")


def process_start_time() -> float:
    """In seconds since the epoch; includes what the interpreter took before our first line."""
    try:
        with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
            ticks = int(stat.read().rpartition(")")[2].split()[19])
            age = float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
        return time.time() - age
    except (OSError, ValueError, IndexError):
        return time.time()

"""Where the time of some steps went, as a profiler saw it. Time under a profiler is longer than without."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True)
class ProfileEntry:
    """All calls of one operator, kernel, copy or function."""

    name: str
    kind: str
    """operator | kernel | copy | runtime, or another word that its profiler has for it; a device's time is in kernel and copy"""
    calls: int
    total_seconds: float
    """of all calls, with what they called"""
    self_seconds: float
    """without what they called"""
    share: float
    """of the self seconds of all entries of this kind, those that are not kept included"""


@dataclass(frozen=True)
class Profile:
    source: str
    """the profiler: Kineto, XPlane, ..."""
    entries: list[ProfileEntry]
    """of each kind those with the most self seconds, most first"""
    span_seconds: float
    """from the begin of the first event to the end of the last"""
    busy_seconds: dict[str, float] = field(default_factory=dict)
    """by kind: the time in which at least one of them ran"""
    device_busy_share: Optional[float] = None
    """of the span, the time in which the device did anything; None: no device was profiled"""
    steps: int = 0
    """marked steps within the span; 0: none were marked"""
    left_out: dict[str, int] = field(default_factory=dict)
    """by kind: entries that are not kept, since they took the least"""

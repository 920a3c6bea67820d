"""From calls on a timeline to a profile: who took how long, with and without what it called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from steptime.core.schema import Profile, ProfileEntry

DEVICE_KINDS = ("kernel", "copy")
MOST_ENTRIES = 40
"""of each kind; the rest is counted"""


class Call(NamedTuple):
    kind: str
    name: str
    track: Hashable
    """calls of one kind on one track are nested; those of different tracks run beside each other"""
    start: float
    end: float
    """in seconds"""


def profile_of(source: str, calls: Sequence[Call], steps: int) -> Profile:
    """There must be calls."""
    span = max(c.end for c in calls) - min(c.start for c in calls)
    kinds = list(dict.fromkeys(c.kind for c in calls))
    busy = {kind: covered_seconds((c.start, c.end) for c in calls if c.kind == kind) for kind in kinds}
    device = covered_seconds((c.start, c.end) for c in calls if c.kind in DEVICE_KINDS)
    entries, left_out = _entries(calls)
    return Profile(
        source=source,
        entries=entries,
        span_seconds=span,
        busy_seconds=busy,
        device_busy_share=device / span if span > 0 and any(kind in busy for kind in DEVICE_KINDS) else None,
        steps=steps,
        left_out=left_out,
    )


def _entries(calls: Sequence[Call]) -> tuple[list[ProfileEntry], dict[str, int]]:
    count: dict[tuple[str, str], int] = defaultdict(int)
    total: dict[tuple[str, str], float] = defaultdict(float)
    own: dict[tuple[str, str], float] = defaultdict(float)
    for call, self_seconds in with_self_seconds(calls):
        key = (call.kind, call.name)
        count[key] += 1
        total[key] += call.end - call.start
        own[key] += self_seconds
    whole: dict[str, float] = defaultdict(float)
    for (kind, _), seconds in own.items():
        whole[kind] += seconds
    entries: list[ProfileEntry] = []
    left_out = {}
    for kind, all_seconds in whole.items():
        keys = sorted((key for key in own if key[0] == kind), key=lambda key: (-own[key], key[1]))
        entries += [
            ProfileEntry(key[1], kind, count[key], total[key], own[key], own[key] / all_seconds if all_seconds > 0 else 0.0)
            for key in keys[:MOST_ENTRIES]
        ]
        if len(keys) > MOST_ENTRIES:
            left_out[kind] = len(keys) - MOST_ENTRIES
    return entries, left_out


def with_self_seconds(calls: Iterable[Call]) -> list[tuple[Call, float]]:
    """Each call with its seconds less those of the calls of its kind that it made."""
    tracks: dict[tuple[str, Hashable], list[Call]] = defaultdict(list)
    for call in calls:
        tracks[call.kind, call.track].append(call)
    timed: list[tuple[Call, float]] = []
    for track in tracks.values():
        track.sort(key=lambda c: (c.start, -c.end))
        own = [c.end - c.start for c in track]
        open_: list[int] = []
        for number, call in enumerate(track):
            while open_ and track[open_[-1]].end <= call.start:
                open_.pop()
            if open_:
                inside = min(call.end, track[open_[-1]].end) - call.start
                own[open_[-1]] = max(0.0, own[open_[-1]] - inside)
            open_.append(number)
        timed += zip(track, own, strict=True)
    return timed


def covered_seconds(times: Iterable[tuple[float, float]]) -> float:
    """Seconds in which at least one ran."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(times):
        if end > reached:
            total += end - max(start, reached)
            reached = end
    return total

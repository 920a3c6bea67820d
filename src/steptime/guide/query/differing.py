"""In what runs are not the same, besides their figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steptime.core.schema import Record
from steptime.store.columns import COLUMNS, CONFIGURING

SECTIONS = (("configuration", "case"), ("software", "software"), ("hardware", "machine"))
NOISE = {"software.interpreter", "case.labels", "case.repeat", "machine.id"}
"""paths and counters, which differ between any two runs"""
MOST_SHOWN = 3
ABSENT = "-"


@dataclass(frozen=True)
class Differing:
    """Something in which the sides are not the same."""

    section: str
    """configuration | software | hardware | measurement"""
    name: str
    values: tuple[str, ...]
    """one for each side"""


def between_records(records: Sequence[Record]) -> list[Differing]:
    """Field by field; long lists (CPU flags) by what one has and the others have not."""
    differing = []
    for section, part in SECTIONS:
        flat = [_flat(getattr(record, part), part) for record in records]
        for name in dict.fromkeys(key for one in flat for key in one):
            values = [one.get(name) for one in flat]
            if name not in NOISE and any(value != values[0] for value in values):
                shown = _shown_lists(values) if any(isinstance(v, list) for v in values) else [_text(v) for v in values]
                differing.append(Differing(section, name.partition(".")[2], tuple(shown)))
    verdicts = tuple(r.contention.verdict if r.contention else ABSENT for r in records)
    if len(set(verdicts)) > 1:
        differing.append(Differing("measurement", "verdict", verdicts))
    return differing


def between_groups(groups: Sequence[Sequence[dict[str, Any]]]) -> list[Differing]:
    """Dimensions whose values are not the same on all sides."""
    differing = []
    for name in CONFIGURING:
        values = [sorted({_text(row[name]) for row in group}) for group in groups]
        if any(v != values[0] for v in values):
            differing.append(Differing(COLUMNS[name].section, name, tuple(_few(v) for v in values)))
    return differing


def _flat(value: Any, path: str) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        parts = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    elif isinstance(value, dict):
        parts = value
    elif value is None:
        return {}
    else:
        return {path: value}
    leaves: dict[str, Any] = {}
    for key, inner in parts.items():
        if isinstance(inner, list) and inner and dataclasses.is_dataclass(inner[0]):
            inner = [str(getattr(item, "name", item)) for item in inner]
        leaves.update(_flat(inner, f"{path}.{key}"))
    return leaves


def _shown_lists(values: Sequence[Any]) -> list[str]:
    lists = [list(map(str, v or [])) for v in values]
    common = set(lists[0]).intersection(*map(set, lists[1:]))
    return [_few([v for v in one if v not in common]) for one in lists]


def _few(values: Sequence[str]) -> str:
    more = f" and {len(values) - MOST_SHOWN} more" if len(values) > MOST_SHOWN else ""
    return ", ".join(values[:MOST_SHOWN]) + more if values else ABSENT


def _text(value: Any) -> str:
    return ABSENT if value in (None, "") else str(value)

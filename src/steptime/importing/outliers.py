"""Figures a hundred times above or below others of the same model, phase, device and precision: reported with both values, and
imported.

Speeds are compared per device, since eight devices are eight times as fast as one; without a speed, step times are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from steptime.store.columns import Row
from steptime.store.files import Store
from steptime.store.lookup import rows_at_hand

FACTOR = 100.0


class Figure(NamedTuple):
    group: tuple[str, ...]
    """what comparable figures have in common, the unit last"""
    value: float
    place: str
    """file and line, or the id of a record that is in the store"""


def figure_of(row: Row, place: str) -> Figure | None:
    """None where there is neither a speed nor a time, or where model or device are not known: nothing to compare with."""
    words = tuple(str(row[name] or "") for name in ("model", "phase", "device", "precision", "image_size", "part"))
    if not words[0] or words[2].upper() in ("", "CPU", "GPU", "TPU"):
        return None
    if row["throughput"]:
        return Figure((*words, str(row["unit"] or "samples/s")), row["throughput"] / (row["replicas"] or 1), place)
    return Figure((*words, "ms"), row["batch_time_ms"], place) if row["batch_time_ms"] else None


def figures_in(store: Store) -> list[Figure]:
    """Those of the store that need no reading of a large one."""
    rows = rows_at_hand(store)
    return [figure for row in rows if (figure := figure_of(row, f"record {row['id']}" if "id" in row else "the store"))]


def outliers(imported: Iterable[Figure], stored: Iterable[Figure] = ()) -> Iterator[str]:
    """A sentence for each imported figure that is far from the median of the others."""
    groups: dict[tuple[str, ...], list[tuple[Figure, bool]]] = defaultdict(list)
    for figures, new in ((imported, True), (stored, False)):
        for figure in figures:
            groups[figure.group].append((figure, new))
    for members in groups.values():
        yield from _outliers_of(sorted(members, key=lambda member: member[0].value))


def _outliers_of(members: list[tuple[Figure, bool]]) -> Iterator[str]:
    """Of figures in ascending order. Of two there is one sentence, since either may be the wrong one."""
    if members[-1][0].value < FACTOR * members[0][0].value:
        return
    count = len(members)
    for position, (figure, new) in enumerate(members):
        middle = (count - 1) // 2
        other = members[middle if middle < position else middle + 1][0]
        if new and not other.value / FACTOR < figure.value < other.value * FACTOR:
            yield _sentence(figure, other, count - 1)
            if count == 2:
                return


def _sentence(figure: Figure, other: Figure, others: int) -> str:
    *words, unit = figure.group
    what = " ".join(word for word in words if word)
    beside = f"{other.value:,.4g} {unit} in {other.place}" + (f", the middle of {others} others" if others > 1 else "")
    return f"{figure.place}: {what}: {figure.value:,.4g} {unit} is a hundred times off {beside}"

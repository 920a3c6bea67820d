"""Filter values and how many runs have them. A dimension's own filter is ignored for it, so no choice is a dead end."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.core.errors import UsageError
from steptime.guide.query.filter_sql import RUN_COLUMNS, Select, matches
from steptime.guide.query.results import Facet, FacetValue
from steptime.guide.view.dimensions import DIMENSIONS, LABEL_PREFIX, dimension, in_order
from steptime.guide.view.view import View
from steptime.store.columns import TABLE
from steptime.store.snapshot import Snapshot

MOST_VALUES = 200
MOST_LABELS = 20
IMPLIED = (*(column.name for column in TABLE if column.implied), *RUN_COLUMNS)
"""offered only on request or where they are filtered: others say the same, or single runs must be counted"""

UNFOLDED = ("phase", "model", "framework", "precision", "device")
"""whose values the page shows from the beginning"""


def facets(snapshot: Snapshot, view: View, names: Sequence[str] | None = None) -> list[Facet]:
    filtered = dict(view.filters)
    if names is None:
        names = [d for d in DIMENSIONS if d not in IMPLIED or d in filtered] + label_names(snapshot)[:MOST_LABELS]
        names += [name for name in filtered if name not in names]
    counts = {name: _counts(snapshot, view, name) for name in names if name in filtered}
    counts.update(_shared(snapshot, view, [name for name in names if name not in filtered]))
    return [_facet(name, counts[name], filtered.get(name, ())) for name in names]


def _counts(snapshot: Snapshot, view: View, name: str) -> dict[str, int]:
    select = Select(view)
    others = tuple((key, values) for key, values in view.filters if key != name)
    single = name in RUN_COLUMNS or any(key in RUN_COLUMNS for key, _ in others)
    rows, count = ("runs", "count(*)") if single else ("rollup", "sum(n)")
    clean = "" if view.contended else "AND NOT contended"
    text = select.text(name)
    query = f"SELECT {text}, {count} FROM {rows} WHERE {select.where(others)} {clean} GROUP BY 1"
    return {value: int(runs) for value, runs in snapshot.ask(query, select.parameters)}


def _shared(snapshot: Snapshot, view: View, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Dimensions without a filter of their own see the same rows: one pass counts them all that any run says a value of."""
    counts: dict[str, dict[str, int]] = {}
    silent = [name for name in names if snapshot.is_silent(name)]
    plain = [name for name in names if name not in RUN_COLUMNS and not any(key in RUN_COLUMNS for key, _ in view.filters)]
    for name in names:
        if name not in plain:
            counts[name] = _counts(snapshot, view, name)
    plain = [name for name in plain if name not in silent] or plain
    if not plain:
        return counts
    select = Select(view)
    clean = "" if view.contended else "AND NOT contended"
    texts = ", ".join(f"{select.text(name)} AS k{i}" for i, name in enumerate(plain))
    rows = f"SELECT {texts}, n FROM rollup WHERE {select.where(view.filters)} {clean}"
    counted = " UNION ALL ".join(f"SELECT {i}, k{i}, sum(n) FROM rows GROUP BY k{i}" for i in range(len(plain)))
    counts.update({name: {} for name in plain})
    for place, value, runs in snapshot.ask(f"WITH rows AS MATERIALIZED ({rows}) {counted}", select.parameters):
        counts[plain[place]][value] = int(runs)
    total = sum(counts[plain[0]].values())
    return {**{name: {"": total} if total else {} for name in silent}, **counts}


def _facet(name: str, counts: dict[str, int], chosen: Sequence[str]) -> Facet:
    of = dimension(name)
    ordered = in_order(of, counts)
    if len(ordered) > MOST_VALUES:
        kept = set(sorted(counts, key=lambda value: (-counts[value], value))[:MOST_VALUES])
        ordered = [value for value in ordered if value in kept or matches(of, value, chosen)]
    values = tuple(FacetValue(value, counts[value], bool(chosen) and matches(of, value, chosen)) for value in ordered)
    return Facet(name, of.label, of.kind, values, len(counts) - len(values))


def label_names(snapshot: Snapshot) -> list[str]:
    query = "SELECT DISTINCT unnest(json_keys(labels)) FROM (SELECT DISTINCT labels FROM rollup WHERE labels <> '{}')"
    names = []
    for (label,) in snapshot.ask(query):
        try:
            names.append(dimension(LABEL_PREFIX + label).name)
        except UsageError:  # a label that no address can name
            continue
    return sorted(names)

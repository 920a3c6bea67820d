"""The filters that leave points which differ in nothing but what the chart shows."""

from __future__ import annotations

from steptime.guide.query import measure_sql
from steptime.guide.query.filter_sql import Select
from steptime.guide.query.points import good_runs, named_series, query
from steptime.guide.query.warnings import unlike_dimensions
from steptime.guide.view.view import View
from steptime.store import rollup
from steptime.store.snapshot import Snapshot


def alike(snapshot: Snapshot, view: View) -> View:
    """The view, with one value for each dimension in which its points differ: those values that the most points have."""
    names = unlike_dimensions(query(snapshot, view))
    if not names:
        return view
    select = Select(view)
    shown = [view.x, *view.group, *([view.facet] if view.facet else [])]
    texts = ", ".join(f"{rollup.text(d)} AS d{i}" for i, d in enumerate(names))
    parts = []
    for place, (_, filters) in enumerate(named_series(view)):
        source = select.source(filters, shown)
        if view.y in measure_sql.SCALED:
            source = measure_sql.with_baseline(select, source)
        point = f"concat_ws(chr(31), {place}, {', '.join(map(select.text, shown))})"
        figure = measure_sql.expressions(select).value
        parts.append(f"SELECT {texts}, {point} AS point, n FROM {source} WHERE {good_runs(view)} AND {figure} IS NOT NULL")
    keys = ", ".join(f"d{i}" for i in range(len(names)))
    best = f"""SELECT {keys} FROM ({" UNION ALL ".join(parts)}) GROUP BY ALL
        ORDER BY count(DISTINCT point) DESC, sum(n) DESC, {keys} LIMIT 1"""
    [values] = snapshot.ask(best, select.parameters)
    chosen = {**dict(view.filters), **{name: (value,) for name, value in zip(names, values, strict=True)}}
    return view.but(filters=tuple(chosen.items()))

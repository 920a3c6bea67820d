"""A chart's points: filter, group, aggregate. docs/guide-query.md is the definition; the browser has the same in JavaScript."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from steptime.core.errors import UnknownName
from steptime.core.schema import FAILURES, Status
from steptime.core.stats.interval import quantile
from steptime.guide.query import measure_sql
from steptime.guide.query.filter_sql import Select, intersection, matches
from steptime.guide.query.measure_sql import MeasureSql
from steptime.guide.query.results import Mean, Point, Result
from steptime.guide.query.warning_codes import WarningCode, warning
from steptime.guide.query.warnings import warnings_of
from steptime.guide.view.dimensions import NOT_RUN, STORED_MEASURES, dimension, in_order
from steptime.guide.view.notation import Filters, ends
from steptime.guide.view.view import View
from steptime.store import rollup
from steptime.store.snapshot import Snapshot

MIXING = (
    "model", "phase", "framework", "framework_version", "precision", "device", "replicas", "nodes", "interconnect", "server",
    "replica_batch", "threads", "optimizer", "data_type", "runtime", "origin", "image_size", "compile", "layout", "augmentation",
    "part", "unit", "variant",
)  # fmt: skip
"""dimensions that are named when a point has several values of them; the others follow from these"""
MOST_CELLS = 500
"""combinations of x and series that are filled up with `not run`; nobody can read a larger grid"""
UNKNOWN = "unknown"
Key = tuple[str, str, str]
"""facet, series, x"""


@dataclass(frozen=True)
class PointRow:
    """One point, as a row of the database's answer."""

    configurations: int
    runs: int
    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    mixes: dict[str, int]


@dataclass
class Gathered:
    """Rows of all named series, by point."""

    values: dict[Key, PointRow] = field(default_factory=dict)
    endings: dict[Key, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    contended: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    filters: dict[str, Filters] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """which named series a series belongs to"""


def query(snapshot: Snapshot, view: View) -> Result:
    gathered = Gathered()
    for place, (name, filters) in enumerate(_named_series(view)):
        _gather(snapshot, view, place, name, filters, gathered)
    shown, missing = _in_range(view, {*gathered.endings, *gathered.contended})
    xs = _ordered_xs(view, {x for _, _, x in shown})
    facets = tuple(in_order(dimension(view.facet), {f for f, _, _ in shown})) if view.facet else ("",)
    present = {s for _, s, _ in shown}
    series = tuple(name for name in _ordered_series(view, gathered) if name in present)
    points = tuple(_point(key, gathered, view) for key in _cells(view, facets, series, xs, shown))
    result = Result(
        view=view,
        xs=xs,
        series=series,
        facets=facets if shown else (),
        points=points,
        runs=sum(p.runs for p in points),
        contended=sum(p.contended for p in points),
        selects={name: gathered.filters[name] for name in series},
    )
    return relative(replace(result, warnings=tuple(warnings_of(result, missing))))


def _named_series(view: View) -> list[tuple[str, Filters]]:
    if not view.series:
        return [("", view.filters)]
    return [(series.name, intersection(view.filters, series.filters)) for series in view.series]


def _gather(snapshot: Snapshot, view: View, place: int, name: str, filters: Filters, gathered: Gathered) -> None:
    """All points of one named series (or of the whole view), split by the groups."""
    select = Select(view)
    shown = [view.x, *view.group, *([view.facet] if view.facet else [])]
    mixing = [d for d in MIXING if d not in {view.resolved(s) for s in shown}]
    bits = snapshot.bits if select.uses_rollup(filters, shown) else {}
    source = select.source(filters, shown)
    if view.y in ("speedup", "efficiency"):
        source = measure_sql.with_baseline(select, source)
    keys = [f"{select.text(d)} AS k{i}" for i, d in enumerate(shown)]
    good = "status = 'ok'" if view.contended else "status = 'ok' AND NOT contended"
    words = sorted({place.word for name_, place in bits.items() if name_ in mixing})
    counted = [d for d in mixing if d not in bits]
    figure = measure_sql.expressions(select)
    for row in snapshot.ask(_points_sql(select, figure, keys, words, counted, source, good), select.parameters):
        key = _key(view, place, name, row[: len(shown)], filters, gathered)
        ok, configurations, runs, value, low, high, spread, *rest = row[len(shown) :]
        gathered.endings[key][Status.OK] = int(ok)
        kinds = dict(zip(counted, rest[len(words) :], strict=True))
        seen = dict(zip(words, rest, strict=False))
        kinds.update({d: bits[d].values(seen) for d in mixing if d in bits})
        gathered.values[key] = PointRow(
            configurations, int(runs), value, low, high, spread, {d: kinds[d] for d in mixing if kinds[d] > 1}
        )
    others = f"""SELECT {", ".join(keys)}, status, contended, sum(n) FROM {source}
        WHERE NOT ({good}) OR {figure.value} IS NULL GROUP BY ALL"""
    for row in snapshot.ask(others, select.parameters):
        key = _key(view, place, name, row[: len(shown)], filters, gathered)
        status, disturbed, count = row[len(shown) :]
        if disturbed and not view.contended:
            gathered.contended[key] += int(count)
        else:
            gathered.endings[key][status] = gathered.endings[key].get(status, 0) + int(count)


def _points_sql(
    select: Select, figure: MeasureSql, keys: list[str], words: list[int], counted: list[str], source: str, good: str
) -> str:
    """Values, intervals and counts of the points that have figures; `v` is a configuration's value."""
    pick = measure_sql.reduction(select.view)
    columns = [f"word_{w}" for w in words] + [f"{rollup.text(d)} AS {d}" for d in counted]
    rows = f"""SELECT {", ".join([*keys, "config", "n", *columns])}, {figure.value} AS v, {figure.low} AS lo, {figure.high} AS hi,
        {figure.count} AS c, {figure.spread} AS sd FROM {source} WHERE {good} AND v IS NOT NULL"""
    total = {"max": "max(v)", "min": "min(v)", "mean": "avg(v)", "median": "median(v)"}[pick]
    at = "arg_max" if pick == "max" else "arg_min"
    configurations = "count(DISTINCT config)" if select.view.contended else "count(*)"
    kinds = [f"bit_or(word_{w})" for w in words] + [f"count(DISTINCT {d})" for d in counted]
    sums = ["sum(n)", configurations, "sum(c)", total, f"{at}(lo, v)", f"{at}(hi, v)", "any_value(sd)", *kinds]
    return f"SELECT {', '.join([*(f'k{i}' for i in range(len(keys))), *sums])} FROM ({rows}) GROUP BY ALL"


def _key(view: View, place: int, name: str, values: tuple[str, ...], filters: Filters, gathered: Gathered) -> Key:
    x, groups = values[0], values[1 : 1 + len(view.group)]
    series = ", ".join([*([name] if name else []), *(value or UNKNOWN for value in groups)])
    if series not in gathered.filters:
        own = {dim: (value,) for dim, value in zip(view.group, groups, strict=True)}
        gathered.filters[series] = tuple(sorted({**dict(filters), **own}.items()))
        gathered.places[series] = place
    return values[-1] if view.facet else "", series, x


def _in_range(view: View, keys: set[Key]) -> tuple[set[Key], int]:
    """The keys that the axis shows; and how many have no known x, on an axis of numbers or dates."""
    of = dimension(view.x)
    known = {key for key in keys if key[2] != "" or of.kind == "text"}
    return {key for key in known if not view.range or matches(of, key[2], view.range)}, len(keys) - len(known)


def _ordered_xs(view: View, xs: set[str]) -> tuple[str, ...]:
    of = dimension(view.x)
    if view.range and not any(ends(of, value) for value in view.range):
        return tuple(value for value in view.range if value in xs)
    return tuple(in_order(of, xs))


def _ordered_series(view: View, gathered: Gathered) -> list[str]:
    """Named series in the order of the address; within each, groups in the order of their dimensions."""
    orders = [in_order(dimension(d), {dict(f)[d][0] for f in gathered.filters.values()}) for d in view.group]

    def place(series: str) -> tuple[int, ...]:
        chosen = dict(gathered.filters[series])
        return (gathered.places[series], *(order.index(chosen[d][0]) for d, order in zip(view.group, orders, strict=True)))

    return sorted(gathered.filters, key=place)


def _cells(view: View, facets: Iterable[str], series: tuple[str, ...], xs: tuple[str, ...], shown: set[Key]) -> list[Key]:
    """By facet, series and x. On an axis of names every combination has a point, so that gaps are seen as such."""
    grid = [(f, s, x) for f in facets for s in series for x in xs]
    return grid if dimension(view.x).kind == "text" and len(grid) <= MOST_CELLS else [key for key in grid if key in shown]


def _point(key: Key, gathered: Gathered, view: View) -> Point:
    facet, series, x = key
    row, endings, contended = gathered.values.get(key), gathered.endings.get(key, {}), gathered.contended.get(key, 0)
    if row is None:
        status = main_status(endings, contended)
        return Point(x, series, facet, status=status, statuses=endings, contended=contended)
    low, high = _interval(row, view)
    return Point(
        x=x,
        series=series,
        facet=facet,
        value=row.value,
        low=low,
        high=high,
        runs=row.runs,
        configurations=row.configurations,
        statuses=endings,
        contended=contended,
        mixes=row.mixes,
    )


def main_status(endings: dict[str, int], contended: int) -> str:
    """Why a point has no figure: its most frequent failure."""
    failures = [status for status in FAILURES if endings.get(status)]
    if endings.get(Status.OK):
        return "no figure"
    if failures:
        return max(failures, key=lambda status: endings[status])
    return "contended" if contended else NOT_RUN


def _interval(row: PointRow, view: View) -> tuple[float | None, float | None]:
    """The interval of the chosen run; of a mean or median over runs of one configuration, from their spread; else none."""
    assert row.value is not None
    if view.agg not in ("mean", "median"):
        return row.low, row.high
    if row.configurations != 1:
        return None, None
    if row.runs == 1:
        return row.low, row.high
    if view.y not in STORED_MEASURES or row.spread is None:
        return None, None
    wider = math.sqrt(math.pi / 2) if view.agg == "median" else 1.0
    half = wider * quantile(0.975, row.runs - 1) * row.spread / math.sqrt(row.runs)
    return max(row.value - half, 0.0), row.value + half


def ratio(point: Point, base: Point) -> tuple[float, float | None, float | None]:
    """Value and interval of a quotient: relative errors of both, each on its side, add as squares."""
    assert point.value is not None and base.value is not None
    value = point.value / base.value
    if None in (point.low, point.high, base.low, base.high) or min(point.low or 0, base.low or 0) <= 0:
        return value, None, None
    assert point.low and point.high and base.low and base.high
    down = math.hypot(math.log(point.value / point.low), math.log(base.high / base.value))
    up = math.hypot(math.log(point.high / point.value), math.log(base.value / base.low))
    return value, value * math.exp(-down), value * math.exp(up)


def relative(result: Result) -> Result:
    """Unchanged without a baseline. With series, the baseline is one of them; without, it is a value of x."""
    name = result.view.baseline
    if not name or not result.points:
        return result
    by_series = result.series != ("",)
    known = result.series if by_series else result.xs
    if name not in known:
        raise UnknownName("baseline", name, known)
    bases = {
        (p.facet, p.x if by_series else p.series): p
        for p in result.points
        if (p.series if by_series else p.x) == name and p.value is not None and p.value > 0
    }
    points, missing = [], 0
    for point in result.points:
        base = bases.get((point.facet, point.x if by_series else point.series))
        if point.value is None:
            points.append(point)
        elif base is None:
            missing += 1
            points.append(replace(point, value=None, low=None, high=None, status="no baseline"))
        elif point == base:
            points.append(replace(point, value=1.0, low=None, high=None))
        else:
            value, low, high = ratio(point, base)
            points.append(replace(point, value=value, low=low, high=high))
    left_out = [warning(WarningCode.NO_BASELINE, n=missing, baseline=name)] if missing else []
    return replace(
        result,
        points=tuple(points),
        means=_means(points, bases, result) if by_series else (),
        warnings=(*result.warnings, *left_out),
    )


def _means(points: list[Point], bases: dict[tuple[str, str], Point], result: Result) -> tuple[Mean, ...]:
    """Of each series, over the values of x at which it and the baseline have figures."""
    means = []
    for facet in result.facets:
        of = sum(f == facet for f, _ in bases)
        for series in result.series:
            logs = [math.log(p.value) for p in points if p.facet == facet and p.series == series and p.value]
            if logs:
                means.append(Mean(series, facet, math.exp(math.fsum(logs) / len(logs)), len(logs), of))
    return tuple(means)

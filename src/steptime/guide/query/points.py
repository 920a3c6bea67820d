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
from steptime.guide.query.configurations import (
    AVERAGES,
    KINDS_OF_WORK,
    NOT_AVERAGED,
    Configuration,
    Shown,
    configuration_of,
    shared_by,
)
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
    configs: list[str]
    """whose value it is: several only where their values are equal"""
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
    for place, (name, filters) in enumerate(named_series(view)):
        _gather(snapshot, view, place, name, filters, gathered)
    shown, missing = _in_range(view, {*gathered.endings, *gathered.contended})
    xs = _ordered_xs(view, {x for _, _, x in shown})
    facets = tuple(in_order(dimension(view.facet), {f for f, _, _ in shown})) if view.facet else ("",)
    present = {s for _, s, _ in shown}
    series = tuple(name for name in _ordered_series(view, gathered) if name in present)
    points = [_point(key, gathered, view) for key in _cells(view, facets, series, xs, shown)]
    points, shared = _configured(snapshot, view, points, gathered)
    result = Result(
        view=view,
        xs=xs,
        series=series,
        facets=facets if shown else (),
        points=tuple(points),
        shared=shared,
        runs=sum(p.runs for p in points),
        contended=sum(p.contended for p in points),
        selects={name: gathered.filters[name] for name in series},
    )
    return relative(replace(result, warnings=tuple(warnings_of(result, missing))))


def named_series(view: View) -> list[tuple[str, Filters]]:
    """Each series that a person has named, with its filters and those of the view; without any, the whole view."""
    if not view.series:
        return [("", view.filters)]
    return [(series.name, intersection(view.filters, series.filters)) for series in view.series]


def _gather(snapshot: Snapshot, view: View, place: int, name: str, filters: Filters, gathered: Gathered) -> None:
    """All points of one named series (or of the whole view), split by the groups."""
    select = Select(view)
    shown = [view.x, *view.group, *([view.facet] if view.facet else [])]
    mixing = Shown.of(view).others
    bits = snapshot.bits if select.uses_rollup(filters, shown) else {}
    source = select.source(filters, shown)
    if view.y in measure_sql.SCALED:
        source = measure_sql.with_baseline(select, source)
    keys = [f"{select.text(d)} AS k{i}" for i, d in enumerate(shown)]
    good = good_runs(view)
    words = sorted({place.word for name_, place in bits.items() if name_ in mixing})
    counted = [d for d in mixing if d not in bits]
    figure = measure_sql.expressions(select)
    for row in snapshot.ask(_points_sql(select, figure, keys, words, counted, source, good), select.parameters):
        key = _key(view, place, name, row[: len(shown)], filters, gathered)
        ok, configurations, runs, value, ends, spread, configs, *rest = row[len(shown) :]
        gathered.endings[key][Status.OK] = int(ok)
        kinds = dict(zip(counted, rest[len(words) :], strict=True))
        seen = dict(zip(words, rest, strict=False))
        kinds.update({d: bits[d].values(seen) for d in mixing if d in bits})
        mixes = {d: kinds[d] for d in mixing if kinds[d] > 1}
        gathered.values[key] = PointRow(configurations, int(runs), value, ends["low"], ends["high"], spread, configs, mixes)
    others = f"""SELECT {", ".join(keys)}, status, contended, sum(n) FROM {source}
        WHERE NOT ({good}) OR {figure.value} IS NULL GROUP BY ALL"""
    for row in snapshot.ask(others, select.parameters):
        key = _key(view, place, name, row[: len(shown)], filters, gathered)
        status, disturbed, count = row[len(shown) :]
        if disturbed and not view.contended:
            gathered.contended[key] += int(count)
        else:
            gathered.endings[key][status] = gathered.endings[key].get(status, 0) + int(count)


def good_runs(view: View) -> str:
    return "status = 'ok'" if view.contended else "status = 'ok' AND NOT contended"


def _points_sql(
    select: Select, figure: MeasureSql, keys: list[str], words: list[int], counted: list[str], source: str, good: str
) -> str:
    """Values, intervals and counts of the points that have figures; `v` is a configuration's value."""
    pick = measure_sql.reduction(select.view)
    columns = [f"word_{w}" for w in words] + [f"{rollup.text(d)} AS {d}" for d in counted]
    rows = f"""SELECT {", ".join([*keys, "config", "n", *columns])}, {figure.value} AS v, {figure.low} AS lo, {figure.high} AS hi,
        {figure.count} AS c, {figure.spread} AS sd FROM {source} WHERE {good} AND v IS NOT NULL"""
    total = {"max": "max(v)", "min": "min(v)", "mean": "avg(v)", "median": "median(v)"}[pick]
    extreme = "min" if pick == "min" else "max"
    configurations = "count(DISTINCT config)" if select.view.contended else "count(*)"
    kinds = [f"bit_or(word_{w})" for w in words] + [f"count(DISTINCT nullif({d}, ''))" for d in counted]
    by = ", ".join(f"k{i}" for i in range(len(keys)))
    ends = rollup.ends_at("v", extreme, "lo", "hi")
    sums = ["sum(n)", configurations, "sum(c)", total, ends, "any_value(sd)", *kinds]
    named = [f"{sql} AS s{i}" for i, sql in enumerate(sums)]
    first, rest = ", ".join(f"s{i}" for i in range(6)), "".join(f", s{i}" for i in range(6, len(sums)))
    return f"""WITH r AS MATERIALIZED ({rows}),
        p AS (SELECT {by}, {extreme}(v) AS top, {", ".join(named)} FROM r GROUP BY ALL),
        c AS (SELECT {by}, list(DISTINCT config) AS configs FROM r JOIN p USING ({by}) WHERE v = top GROUP BY ALL)
        SELECT {by}, {first}, configs{rest} FROM p JOIN c USING ({by})"""


def _configured(snapshot: Snapshot, view: View, points: list[Point], gathered: Gathered) -> tuple[list[Point], Configuration]:
    """The points, each with what it is besides what x, series and facet say; and apart from that what all of them are."""
    names = Shown.of(view).others
    rows = _configurations(snapshot, names, {c for row in gathered.values.values() for c in row.configs})
    known: dict[int, Configuration] = {}
    for i, point in enumerate(points):
        if point.configurations:
            configs = gathered.values[point.facet, point.series, point.x].configs
            mixed = point.mixes if view.agg in AVERAGES else {}
            known[i] = configuration_of([rows[c] for c in configs], [d for d in names if d not in mixed])
    shared = shared_by(list(known.values()))
    for i, configuration in known.items():
        own = {d: value for d, value in configuration.items() if d not in shared}
        points[i] = replace(points[i], configuration=own)
    return points, shared


def _configurations(snapshot: Snapshot, names: list[str], configs: set[str]) -> dict[str, Configuration]:
    silent = dict.fromkeys((d for d in names if snapshot.is_silent(d)), "")
    said = [d for d in names if d not in silent]
    texts = ", ".join(["config", *map(rollup.text, said)])
    query = f"SELECT {texts} FROM rollup WHERE config IN (SELECT unnest($configs))"
    rows = snapshot.ask(query, {"configs": list(configs)})
    return {config: {**silent, **dict(zip(said, values, strict=True))} for config, *values in rows}


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
    averaged = view.agg not in AVERAGES or not set(row.mixes) & set(KINDS_OF_WORK)
    low, high = _interval(row, view) if averaged else (None, None)
    return Point(
        x=x,
        series=series,
        facet=facet,
        value=row.value if averaged else None,
        low=low,
        high=high,
        status="ok" if averaged else NOT_AVERAGED,
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
    if view.agg not in AVERAGES or (row.configurations == 1 and row.runs == 1):
        return _around(row.value, row.low, row.high)
    if row.configurations != 1:
        return None, None
    if view.y not in STORED_MEASURES or row.spread is None:
        return None, None
    wider = math.sqrt(math.pi / 2) if view.agg == "median" else 1.0
    half = wider * quantile(0.975, row.runs - 1) * row.spread / math.sqrt(row.runs)
    return max(row.value - half, 0.0), row.value + half


def _around(value: float, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """An interval that does not hold its own value says nothing: a price below 0, a clock that ran backwards."""
    return (low, high) if low is not None and high is not None and low <= value <= high else (None, None)


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
        means=_means(points, bases, result) if by_series and result.view.x not in KINDS_OF_WORK else (),
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

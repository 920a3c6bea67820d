"""A chart's points: filter, group, aggregate. docs/guide-query.md is the definition; the browser has the same in JavaScript."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from steptime.core.schema import FAILURES, OK
from steptime.core.stats.student import quantile
from steptime.guide.query import measure_sql as figures
from steptime.guide.query.filter_sql import Select, narrowed, passes
from steptime.guide.query.measure_sql import Figure
from steptime.guide.query.relative import relative
from steptime.guide.query.results import Point, Result
from steptime.guide.query.warnings import warnings_of
from steptime.guide.view.dimensions import NOT_RUN, STORED_MEASURES, dimension, in_order
from steptime.guide.view.notation import Filters, ends
from steptime.guide.view.view import View
from steptime.store import rollup
from steptime.store.snapshot import Snapshot

MIXING = (
    "model", "phase", "framework", "framework_version", "precision", "device", "replicas", "nodes", "interconnect", "server",
    "replica_batch", "threads", "optimizer", "data_type", "runtime", "origin",
)  # fmt: skip
"""dimensions that are named when a point has several values of them; the others follow from these"""
MOST_CELLS = 500
"""combinations of x and series that are filled up with `not run`; a larger grid says nothing to anybody"""
UNKNOWN = "unknown"
Key = tuple[str, str, str]
"""facet, series, x"""


@dataclass(frozen=True)
class Found:
    """One point as the database gives it."""

    configurations: int
    runs: int
    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    mixes: dict[str, int]


@dataclass
class Answers:
    """What the database says, gathered over the named series."""

    values: dict[Key, Found] = field(default_factory=dict)
    endings: dict[Key, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    contended: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    selects: dict[str, Filters] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """which named series a series belongs to"""


def query(snapshot: Snapshot, view: View) -> Result:
    found = Answers()
    for place, (name, filters) in enumerate(_lines(view)):
        _ask(snapshot, view, place, name, filters, found)
    shown, missing = _in_range(view, {*found.endings, *found.contended})
    xs = _ordered_xs(view, {x for _, _, x in shown})
    facets = tuple(in_order(dimension(view.facet), {f for f, _, _ in shown})) if view.facet else ("",)
    present = {s for _, s, _ in shown}
    series = tuple(name for name in _ordered_series(view, found) if name in present)
    points = tuple(_point(key, found, view) for key in _cells(view, facets, series, xs, shown))
    result = Result(
        view=view,
        xs=xs,
        series=series,
        facets=facets if shown else (),
        points=points,
        runs=sum(p.runs for p in points),
        contended=sum(p.contended for p in points),
        selects={name: found.selects[name] for name in series},
    )
    return relative(replace(result, warnings=tuple(warnings_of(result, missing))))


def _lines(view: View) -> list[tuple[str, Filters]]:
    if not view.series:
        return [("", view.filters)]
    return [(series.name, narrowed(view.filters, series.filters)) for series in view.series]


def _ask(snapshot: Snapshot, view: View, place: int, name: str, filters: Filters, found: Answers) -> None:
    """All points of one named series (or of the whole view), split by the groups."""
    select = Select(view)
    shown = [view.x, *view.group, *([view.facet] if view.facet else [])]
    mixing = [d for d in MIXING if d not in {view.resolved(s) for s in shown}]
    bits = snapshot.bits if select.rolled(filters, shown) else {}
    source = select.source(filters, shown)
    if view.y in ("speedup", "efficiency"):
        source = figures.with_base(select, source)
    keys = [f"{select.text(d)} AS k{i}" for i, d in enumerate(shown)]
    good = "status = 'ok'" if view.contended else "status = 'ok' AND NOT contended"
    words = sorted({place.word for name_, place in bits.items() if name_ in mixing})
    counted = [d for d in mixing if d not in bits]
    figure = figures.figure(select)
    for row in snapshot.ask(_measured(select, figure, keys, words, counted, source, good), select.parameters):
        key = _key(view, place, name, row[: len(shown)], filters, found)
        ok, configurations, runs, value, low, high, spread, *rest = row[len(shown) :]
        found.endings[key][OK] = int(ok)
        kinds = dict(zip(counted, rest[len(words) :], strict=True))
        seen = dict(zip(words, rest, strict=False))
        kinds.update({d: bits[d].values(seen) for d in mixing if d in bits})
        found.values[key] = Found(
            configurations, int(runs), value, low, high, spread, {d: kinds[d] for d in mixing if kinds[d] > 1}
        )
    others = f"""SELECT {", ".join(keys)}, status, contended, sum(n) FROM {source}
        WHERE NOT ({good}) OR {figure.value} IS NULL GROUP BY ALL"""
    for row in snapshot.ask(others, select.parameters):
        key = _key(view, place, name, row[: len(shown)], filters, found)
        status, disturbed, count = row[len(shown) :]
        if disturbed and not view.contended:
            found.contended[key] += int(count)
        else:
            found.endings[key][status] = found.endings[key].get(status, 0) + int(count)


def _measured(
    select: Select, figure: Figure, keys: list[str], words: list[int], counted: list[str], source: str, good: str
) -> str:
    """Values, intervals and counts of the points that have figures; `v` is a configuration's value."""
    pick = figures.picked(select.view)
    columns = [f"word_{w}" for w in words] + [f"{rollup.text(d)} AS {d}" for d in counted]
    rows = f"""SELECT {", ".join([*keys, "config", "n", *columns])}, {figure.value} AS v, {figure.low} AS lo, {figure.high} AS hi,
        {figure.count} AS c, {figure.spread} AS sd FROM {source} WHERE {good} AND v IS NOT NULL"""
    total = {"max": "max(v)", "min": "min(v)", "mean": "avg(v)", "median": "median(v)"}[pick]
    at = "arg_max" if pick == "max" else "arg_min"
    configurations = "count(DISTINCT config)" if select.view.contended else "count(*)"
    kinds = [f"bit_or(word_{w})" for w in words] + [f"count(DISTINCT {d})" for d in counted]
    sums = ["sum(n)", configurations, "sum(c)", total, f"{at}(lo, v)", f"{at}(hi, v)", "any_value(sd)", *kinds]
    return f"SELECT {', '.join([*(f'k{i}' for i in range(len(keys))), *sums])} FROM ({rows}) GROUP BY ALL"


def _key(view: View, place: int, name: str, values: tuple[str, ...], filters: Filters, found: Answers) -> Key:
    x, groups = values[0], values[1 : 1 + len(view.group)]
    series = ", ".join([*([name] if name else []), *(value or UNKNOWN for value in groups)])
    if series not in found.selects:
        own = {dim: (value,) for dim, value in zip(view.group, groups, strict=True)}
        found.selects[series] = tuple(sorted({**dict(filters), **own}.items()))
        found.places[series] = place
    return values[-1] if view.facet else "", series, x


def _in_range(view: View, keys: set[Key]) -> tuple[set[Key], int]:
    """The keys that the axis shows; and how many do not say their x, on an axis of numbers or dates."""
    of = dimension(view.x)
    said = {key for key in keys if key[2] != "" or of.kind == "text"}
    return {key for key in said if not view.range or passes(of, key[2], view.range)}, len(keys) - len(said)


def _ordered_xs(view: View, xs: set[str]) -> tuple[str, ...]:
    of = dimension(view.x)
    if view.range and not any(ends(of, value) for value in view.range):
        return tuple(value for value in view.range if value in xs)
    return tuple(in_order(of, xs))


def _ordered_series(view: View, found: Answers) -> list[str]:
    """Named series as they were given; within each, groups in the order of their dimensions."""
    orders = [in_order(dimension(d), {dict(f)[d][0] for f in found.selects.values()}) for d in view.group]

    def place(series: str) -> tuple[int, ...]:
        chosen = dict(found.selects[series])
        return (found.places[series], *(order.index(chosen[d][0]) for d, order in zip(view.group, orders, strict=True)))

    return sorted(found.selects, key=place)


def _cells(view: View, facets: Iterable[str], series: tuple[str, ...], xs: tuple[str, ...], shown: set[Key]) -> list[Key]:
    """By facet, series and x. On an axis of names every combination has a point, so that gaps are seen as such."""
    grid = [(f, s, x) for f in facets for s in series for x in xs]
    return grid if dimension(view.x).kind == "text" and len(grid) <= MOST_CELLS else [key for key in grid if key in shown]


def _point(key: Key, answers: Answers, view: View) -> Point:
    facet, series, x = key
    found, endings, contended = answers.values.get(key), answers.endings.get(key, {}), answers.contended.get(key, 0)
    if found is None:
        status = most_telling(endings, contended)
        return Point(x, series, facet, status=status, statuses=endings, contended=contended)
    low, high = _interval(found, view)
    return Point(
        x=x,
        series=series,
        facet=facet,
        value=found.value,
        low=low,
        high=high,
        runs=found.runs,
        configurations=found.configurations,
        statuses=endings,
        contended=contended,
        mixes=found.mixes,
    )


def most_telling(endings: dict[str, int], contended: int) -> str:
    """Why there is no figure: the most frequent failure."""
    failures = [status for status in FAILURES if endings.get(status)]
    if endings.get(OK):
        return "no figure"
    if failures:
        return max(failures, key=lambda status: endings[status])
    return "contended" if contended else NOT_RUN


def _interval(found: Found, view: View) -> tuple[float | None, float | None]:
    """That of the chosen run; of a mean or median over runs of one configuration, that of their spread; else none."""
    assert found.value is not None
    if view.agg not in ("mean", "median"):
        return found.low, found.high
    if found.configurations != 1:
        return None, None
    if found.runs == 1:
        return found.low, found.high
    if view.y not in STORED_MEASURES or found.spread is None:
        return None, None
    wider = math.sqrt(math.pi / 2) if view.agg == "median" else 1.0
    half = wider * quantile(0.975, found.runs - 1) * found.spread / math.sqrt(found.runs)
    return max(found.value - half, 0.0), found.value + half

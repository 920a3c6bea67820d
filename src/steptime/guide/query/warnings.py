"""Which warnings the explorer's chart needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from steptime.guide.query.configurations import AVERAGES, KINDS_OF_WORK, MIXING, NOT_AVERAGED, Shown, known_values
from steptime.guide.query.measure_sql import SCALED
from steptime.guide.query.results import Point, Result
from steptime.guide.query.warning_codes import MIXED_VERBS, ChartWarning, WarningCode, warning
from steptime.guide.view.dimensions import PRICE_LABEL, dimension, measure

MOST_FACETS = 24
"""small charts beside each other; more cannot be looked at"""
MOST_NAMES = 40
"""names along x, for the same reason"""
MOST_VALUES = 3
"""of a dimension, that a warning names"""
ABOVE_IDEAL = 1.0001
"""an efficiency that is above 1, and not by rounding"""
PLURALS = {
    "batch size": "batch sizes", "replica batch size": "replica batch sizes", "number of devices": "numbers of devices",
    "phase": "phases", "nodes": "numbers of nodes", "threads": "numbers of threads", "part of the work": "parts of the work",
    "unit of throughput": "units of throughput",
}  # fmt: skip


def plural(name: str) -> str:
    label = dimension(name).label
    return PLURALS.get(label, f"{label}s")


def listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def drawn(result: Result) -> tuple[str, ...]:
    """The values of x in the chart: all, or of a great many names those with the most runs. Who chose a range gets all of it."""
    if dimension(result.view.x).kind != "text" or result.view.range or len(result.xs) <= MOST_NAMES:
        return result.xs
    runs = dict.fromkeys(result.xs, 0)
    for point in result.points:
        runs[point.x] += point.runs if point.value is not None else 0
    kept = set(sorted(result.xs, key=lambda x: -runs[x])[:MOST_NAMES])
    return tuple(x for x in result.xs if x in kept)


def warnings_of(result: Result, missing: int) -> Iterator[ChartWarning]:
    view, points = result.view, result.points
    mixed: dict[str, int] = {}
    for point in points:
        for name, count in point.mixes.items():
            mixed[name] = max(mixed.get(name, 0), count)
    if mixed:
        verb = MIXED_VERBS.get(view.agg, MIXED_VERBS[""])(agg=view.agg)
        yield warning(WarningCode.MIXED, verb=verb, values=listed([f"{count} {plural(name)}" for name, count in mixed.items()]))
    differing = _differing(result)
    if differing:
        yield warning(WarningCode.DIFFERENT, values=listed([_values_text(*item) for item in differing.items()]))
    unlike = [p for p in points if p.status == NOT_AVERAGED]
    if unlike:
        names = [dimension(d).label for d in KINDS_OF_WORK if any(d in p.mixes for p in unlike)]
        yield warning(WarningCode.NOT_AVERAGED, n=len(unlike), names=listed(names))
    if view.y == "efficiency" and (above := sum(p.value is not None and p.value > ABOVE_IDEAL for p in points)):
        yield warning(WarningCode.ABOVE_IDEAL, n=above)
    if result.contended:
        yield warning(WarningCode.CONTENDED, n=result.contended)
    if len(result.facets) > MOST_FACETS:
        yield warning(WarningCode.FACETS_CUT, most=MOST_FACETS, total=len(result.facets))
    if len(drawn(result)) < len(result.xs):
        yield warning(WarningCode.NAMES_CUT, most=MOST_NAMES, total=len(result.xs), names=plural(view.x))
    if missing:
        yield warning(WarningCode.UNKNOWN_X, n=missing, dimension=dimension(view.x).label)
    without = sum(p.status == "no figure" for p in points)
    if without:
        yield warning(_cause(view.y), n=without, measure=measure(view.y).label, label=PRICE_LABEL)


def unlike_dimensions(result: Result) -> list[str]:
    """In what points differ, from each other or within themselves."""
    differing, mixed = _differing(result), {d for p in result.points for d in p.mixes}
    return [d for d in MIXING if d in differing or d in mixed]


def _differing(result: Result) -> dict[str, list[str]]:
    """In what points that a reader compares differ. Relative to a series, those are the points of one x."""
    view, shown = result.view, Shown.of(result.view)
    by_x = bool(view.baseline) and result.series != ("",)
    points = [(p, _shown_values(result, p)) for p in result.points if p.value is not None]
    mixed = {d for p in result.points for d in p.mixes} if view.agg in AVERAGES else set()  # told by the warning of that
    values = {}
    for name in {d for point, _ in points for d in point.configuration} - mixed:
        groups = defaultdict(list)
        leading = shown.leading(name, view)
        for point, own in points:
            at = (point.facet, point.x) if by_x else ()
            groups[at, *(own[i] for i in leading)].append(point.configuration)
        values[name] = known_values(groups.values(), name)
    return {name: values[name] for name in MIXING if values.get(name)}


def _shown_values(result: Result, point: Point) -> tuple[str, ...]:
    """Those of x, the group and the facet."""
    view, own = result.view, dict(result.selects[point.series])
    return (point.x, *(own[d][0] for d in view.group), *([point.facet] if view.facet else []))


def _values_text(name: str, values: list[str]) -> str:
    few = ", ".join(values) if len(values) <= MOST_VALUES else f"{len(values)} values"
    return f"{dimension(name).label} ({few})"


def _cause(measure: str) -> WarningCode:
    """Why points have no figure of a measure."""
    causes = {"cost_per_million": WarningCode.NO_PRICE}
    return causes.get(measure, WarningCode.NO_SINGLE_DEVICE if measure in SCALED else WarningCode.NO_MEASURE)

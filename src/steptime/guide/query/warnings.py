"""Which warnings the explorer's chart needs."""

from __future__ import annotations

from collections.abc import Iterator

from steptime.guide.query.results import Result
from steptime.guide.query.warning_codes import MIXED_VERBS, ChartWarning, WarningCode, warning
from steptime.guide.view.dimensions import PRICE_LABEL, dimension, measure

MOST_FACETS = 24
"""small charts beside each other; more cannot be looked at"""
MOST_NAMES = 40
"""names along x, for the same reason"""
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


def _cause(measure: str) -> WarningCode:
    """Why points have no figure of a measure."""
    causes = {"cost_per_million": WarningCode.NO_PRICE}
    return causes.get(measure, WarningCode.NO_SINGLE_DEVICE if measure in ("speedup", "efficiency") else WarningCode.NO_MEASURE)

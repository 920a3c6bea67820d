"""What a reader should know before believing a chart, in words."""

from __future__ import annotations

from collections.abc import Iterator

from steptime.guide.query.results import Result
from steptime.guide.view.dimensions import PRICE_LABEL, dimension, measure

MOST_FACETS = 24
"""small charts beside each other; more cannot be looked at"""
MOST_NAMES = 40
"""names along x, for the same reason"""
PLURALS = {
    "batch size": "batch sizes", "replica batch size": "replica batch sizes", "number of devices": "numbers of devices",
    "phase": "phases", "nodes": "numbers of nodes", "threads": "numbers of threads",
}  # fmt: skip


def plural(name: str) -> str:
    label = dimension(name).label
    return PLURALS.get(label, f"{label}s")


def listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(count: int, noun: str, verb: str) -> str:
    """'1 point has', '2 points have'."""
    single = {"have": "has", "are": "is"}[verb]
    return f"{count} {noun} {single}" if count == 1 else f"{count} {noun}s {verb}"


def drawn(result: Result) -> tuple[str, ...]:
    """The values of x in the chart: all, or of a great many names those with the most runs. Who chose a range gets all of it."""
    if dimension(result.view.x).kind != "text" or result.view.range or len(result.xs) <= MOST_NAMES:
        return result.xs
    runs = dict.fromkeys(result.xs, 0)
    for point in result.points:
        runs[point.x] += point.runs if point.value is not None else 0
    kept = set(sorted(result.xs, key=lambda x: -runs[x])[:MOST_NAMES])
    return tuple(x for x in result.xs if x in kept)


def left_out(contended: int) -> str:
    return f"{counted(contended, 'contended run', 'are')} left out; include {'it' if contended == 1 else 'them'} with contended=1"


def warnings_of(result: Result, missing: int) -> Iterator[str]:
    view, points = result.view, result.points
    mixed: dict[str, int] = {}
    for point in points:
        for name, count in point.mixes.items():
            mixed[name] = max(mixed.get(name, 0), count)
    if mixed:
        parts = [f"{count} {plural(name)}" for name, count in mixed.items()]
        verb = "averages" if view.agg == "mean" else "is the median over" if view.agg == "median" else f"is the {view.agg} of"
        yield f"a point {verb} up to {listed(parts)}; filter or group by them to compare like with like"
    if result.contended:
        yield left_out(result.contended)
    if len(result.facets) > MOST_FACETS:
        yield f"the first {MOST_FACETS} of {len(result.facets)} small charts are drawn; filter to choose"
    if len(drawn(result)) < len(result.xs):
        names = f"{MOST_NAMES} of {len(result.xs)} {plural(view.x)}"
        yield f"{names} are drawn, those with the most runs; filter to choose, the table has all"
    if missing:
        yield f"{counted(missing, 'point', 'are')} not shown: the runs do not say the {dimension(view.x).label}"
    without = sum(p.status == "no figure" for p in points)
    if without and view.y in ("speedup", "efficiency"):
        yield f"{counted(without, 'point', 'have')} no run on one device to be measured against, so no {measure(view.y).label}"
    elif without and view.y == "cost_per_million":
        yield f"{counted(without, 'point', 'have')} no label {PRICE_LABEL}, so no cost"
    elif without:
        yield f"{counted(without, 'point', 'have')} no {measure(view.y).label}"

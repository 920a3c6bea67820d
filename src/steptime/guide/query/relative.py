"""Baseline-relative mode: every value as a multiple of the baseline's, and geometric means of those."""

from __future__ import annotations

import math
from dataclasses import replace

from steptime.core.errors import UnknownName
from steptime.guide.query.results import Mean, Point, Result
from steptime.guide.query.warning_codes import WarningCode, warning


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

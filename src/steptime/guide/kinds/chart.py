"""The explorer: a measure over a dimension, one series for each group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steptime.guide.charts import chart_template
from steptime.guide.charts.chart_template import legend_columns
from steptime.guide.charts.spec_template import Spec
from steptime.guide.charts.theme import status_label
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import Kind
from steptime.guide.query.configurations import configuration_text
from steptime.guide.query.points import query
from steptime.guide.query.results import Point, Result, plain
from steptime.guide.query.warnings import MOST_FACETS, drawn
from steptime.guide.view.dimensions import dimension, measure
from steptime.guide.view.texts import Text
from steptime.guide.view.view import View

MOST_POINTS = 5000
"""a picture of more takes minutes to draw and shows nothing"""


TEXTS = {
    "title": Text("{measure} by {x}"),
    "title_of_groups": Text("{measure} by {x}, per {groups}"),
    "relative": Text("relative to {baseline} = 1"),
    "better": Text("{better} is better"),
    "best": Text("best run of each"),
    "agg": Text("{agg} of each"),
    "devices": Text("{n} devices each"),
    "runs": Text("{n:,} runs", "{n} run"),
    "intervals": Text("95% intervals"),
}
SAMPLES = "samples/s"
GEOMETRIC_MEAN = "geometric mean"
UNKNOWN = "unknown"
MOST_BARS, MOST_WORDS, MOST_TICKS = 120, 60, 12
LABEL_ROOM = 46
"""pixels that a bar needs for its figure to fit above it"""
LETTER = 7.5
"""approximate pixels of a letter on an axis"""
LINE_ROOM = 19
"""pixels from one slanted name to the next at which they can be read"""


def default_size(result: Result) -> dict[str, Any]:
    many = len(drawn(result))
    if _faceted(result):
        return {"columns": 3, "width": 300 if many < 12 else 420, "height": 220,
                "entries": legend_columns(1000, result.series)}  # fmt: skip
    bars = max(many + (_named(result.view) and bool(result.means)), 1) * max(len(result.series), 1)
    width = int(min(max(bars * LABEL_ROOM + 60, 420), 1000))
    return {
        "columns": 1,
        "width": width,
        "height": 320,
        "entries": legend_columns(width, result.series),
    }


def heading(view: View) -> str:
    groups = [] if view.series else [dimension(name).label for name in view.group]
    label, text = measure(view.y).label, TEXTS["title_of_groups" if groups else "title"]
    return text(measure=f"{label[0].upper()}{label[1:]}", x=dimension(view.x).label, groups=" and ".join(groups))


def subtitle(result: Result) -> str:
    """What the figures are."""
    view, of = result.view, measure(result.view.y)
    better = TEXTS["better"](better=of.better)
    if view.baseline:
        parts = [TEXTS["relative"](baseline=view.baseline), better]
    else:
        aggregation = TEXTS["best" if view.agg == "best" else "agg"](agg=view.agg)
        parts = [unit_of(result) if of.form == "number" else "", better, aggregation]
    devices = int(result.shared.get("replicas") or 1)
    parts += [TEXTS["devices"](n=devices)] if devices > 1 else []
    intervals = TEXTS["intervals"]() if any(p.low is not None for p in result.points) else ""
    return " · ".join(filter(None, [*parts, TEXTS["runs"](n=result.runs), intervals]))


def unit_of(result: Result) -> str:
    """That of the measure; throughput of runs that do not count samples is in what they count."""
    unit = measure(result.view.y).unit
    return result.shared.get("unit") or unit if unit == SAMPLES else unit


def filters_text(view: View) -> str:
    """Which runs the figures come from."""
    parts = (f"{dimension(k).label}: {', '.join(v[:3])}{' …' if len(v) > 3 else ''}" for k, v in view.filters)
    return " · ".join(parts)[:160]


def rows(result: Result) -> list[dict[str, Any]]:
    """The data of a chart; `point` is the place of a row among the points of the answer."""
    view = result.view
    named, numeric, faceted = _named(view), dimension(view.x).kind == "number", _faceted(result)
    label = measure(view.y).label
    rows = []
    shown, xs = set(result.facets[:MOST_FACETS]), set(drawn(result))
    for i, p in enumerate(result.points):
        if p.facet not in shown or p.x not in xs:
            continue
        row = {"x": float(p.x) if numeric else p.x or UNKNOWN, "series": p.series or label, "value": p.value, "low": p.low,
               "high": p.high, "runs": p.runs, "status": status_label(p.status), "point": i}  # fmt: skip
        if p.configurations > 1 and p.mixes:
            row["mixes"] = ", ".join(f"{count} × {dimension(name).label}" for name, count in p.mixes.items())
        if any(p.configuration.values()):
            row["configuration"] = configuration_text(p.configuration)
        rows.append({**row, "facet": p.facet or UNKNOWN} if faceted else row)
    for mean in (m for m in result.means if named and m.facet in shown):
        row = {"x": GEOMETRIC_MEAN, "series": mean.series or label, "value": mean.value, "low": None, "high": None,
               "runs": mean.n, "status": f"over {mean.n} of {mean.of}"}  # fmt: skip
        rows.append({**row, "facet": mean.facet or UNKNOWN} if faceted else row)
    return rows


def values(result: Result) -> dict[str, Any]:
    """Data, texts, orders, and which parts of the template are used."""
    view, of, by = result.view, measure(result.view.y), dimension(result.view.x)
    data, named, faceted, relative = rows(result), _named(view), _faceted(result), bool(view.baseline)
    names = [s or of.label for s in result.series]
    xs: list[Any] = [x or UNKNOWN for x in drawn(result)] + [GEOMETRIC_MEAN] * (named and bool(result.means))
    if by.kind == "number":
        xs = [float(x) for x in result.xs]
    unit = f"× {view.baseline}" if relative else unit_of(result) if of.form == "number" else ""
    without = sum(row["value"] is None or ("y" in view.log and row["value"] <= 0) for row in data)
    wide = "child_width" if faceted else "width"
    letters = max(map(len, xs), default=0) * len(xs) if named else 0
    return {
        "rows": data, "xs": xs, "series": names, "facets": [f or UNKNOWN for f in result.facets[:MOST_FACETS]],
        "heading": heading(view), "subtitle": list(filter(None, [subtitle(result), filters_text(view)])),
        "x_title": by.label, "y_title": f"{of.label} ({unit})" if unit else of.label,
        "legend_title": ", ".join(dimension(d).label for d in view.group) or None,
        "named": named, "dated": by.kind == "date", "faceted": faceted, "relative": relative,
        "many": len(names) > 1, "legend": names not in ([], [of.label]),
        "bars": named and "y" not in view.log and len(data) <= MOST_BARS,
        "log_x": "x" in view.log and by.kind == "number" and min(xs, default=0) > 0, "log_y": "y" in view.log,
        "flat": not any(row["value"] for row in data), "few": len(xs) <= MOST_TICKS,
        "intervals": any(row["low"] is not None for row in data),
        "gaps": without > 0 and (not named or without <= MOST_WORDS),
        "percent": of.form == "percent" and not relative, "bytes": of.form == "bytes" and not relative,
        "ratio": of.form == "ratio" or relative,
        "slanted": f"{wide} < {math.ceil(LETTER * letters)}", "roomy": f"{wide} >= {LABEL_ROOM * len(xs) * len(names)}",
        "crowded": f"{wide} < {LINE_ROOM * len(xs)}",
    }  # fmt: skip


def _named(view: View) -> bool:
    return dimension(view.x).kind == "text"


def _faceted(result: Result) -> bool:
    return bool(result.view.facet) and len(result.facets) > 1


class ChartKind(Kind[Result]):
    parameters: tuple[str, ...] = (
        "x", "y", "group", "facet", "agg", "scaling", "log", "baseline", "range", "contended", "series",
    )  # fmt: skip
    columns = ("facet", "series", "x", "value", "low", "high", "runs", "configurations", "status", "contended", "configuration")
    texts = TEXTS
    page_draws = True

    def answer(self, guide: Guide, view: View) -> Result:
        return query(guide.snapshot, view)

    def title(self, answer: Result) -> str:
        return heading(answer.view)

    def subtitle(self, answer: Result) -> str:
        return subtitle(answer)

    def items(self, answer: Result) -> Sequence[Point]:
        return answer.points

    def rows(self, answer: Result) -> list[dict[str, Any]]:
        return [
            {**plain(point), "configuration": configuration_text({**answer.shared, **point.configuration} if point.runs else {})}
            for point in answer.points
        ]

    def template(self) -> Spec:
        return chart_template.template()

    def values(self, answer: Result) -> dict[str, Any]:
        return values(answer)

    def size(self, answer: Result) -> dict[str, Any]:
        return default_size(answer)

    def too_large(self, answer: Result) -> str:
        points = len(answer.points)
        return f"a picture of {points} points shows nothing; filter, or take .csv" if points > MOST_POINTS else ""


KIND = ChartKind()

"""Vega-Lite from answers: pure functions from a Result to a specification, which is a plain dict and needs nothing else.

Bars where x is a name, lines where it is a number or a date; points in place of bars on a log axis, which has no zero for
a bar to stand on. What has no figure is written in words where it would have stood.
"""

from __future__ import annotations

from typing import Any

from steptime.guide.dimensions import NOT_RUN, dimension, measure
from steptime.guide.results import Point, Result
from steptime.guide.state import View
from steptime.guide.theme import SCHEMA, SHAPES, Spec, config, number_format, shown, status_words, theme

GEOMETRIC_MEAN = "geometric mean"
UNKNOWN = "unknown"
MOST_BARS, MOST_WORDS = 120, 60
LABEL_ROOM = 24.0
"""pixels that a bar needs for its figure to fit above it"""
FACET_COLUMNS = 3


def spec(result: Result, look: str = "light", width: int | str | None = None, height: int = 320, title: bool = True) -> Spec:
    """The chart of a view. `width` "container" fits the page, which facets cannot do; None chooses by what there is to show."""
    view = result.view
    made: Spec = {"$schema": SCHEMA, "config": config(look)}
    if title:
        made["title"] = {"text": heading(view), "subtitle": subtitle(result)}
    if not view.facet or len(result.facets) < 2:
        return {**made, **_panel(result, list(result.points), look, width or _width(result), height)}
    panels = []
    for facet in result.facets:
        own = [p for p in result.points if p.facet == facet]
        panel = _panel(result, own, look, 300 if len(result.xs) < 12 else 420, 220)
        panels.append({"title": {"text": facet or UNKNOWN, "fontSize": 13, "offset": 6}, **panel})
    return {**made, "concat": panels, "columns": FACET_COLUMNS, "resolve": {"scale": {"color": "shared", "y": "shared"}}}


def heading(view: View) -> str:
    label = measure(view.y).label
    by = f" by {dimension(view.x).label}"
    return f"{label[0].upper()}{label[1:]}{by}" + (f", relative to {view.baseline}" if view.baseline else "")


def subtitle(result: Result) -> list[str]:
    """What the figures are, and which runs they come from."""
    view = result.view
    better = measure(view.y).better
    first = f"{view.agg} of {result.runs:,} runs · {better} is better"
    if any(p.low is not None for p in result.points):
        first += " · whiskers: 95% intervals"
    chosen = [f"{dimension(k).label}: {', '.join(v[:3])}{' …' if len(v) > 3 else ''}" for k, v in view.filters]
    return [first, *([" · ".join(chosen)[:160]] if chosen else [])]


def rows(result: Result, points: list[Point]) -> list[dict[str, Any]]:
    """The data of a chart, with everything that a tooltip says."""
    view, of = result.view, measure(result.view.y)
    relative = bool(view.baseline)
    numeric = dimension(view.x).kind == "number"
    found = []
    for p in points:
        row: dict[str, Any] = {"x": float(p.x) if numeric else p.x or UNKNOWN, "series": p.series or of.label, "runs": p.runs}
        row["status"] = status_words(p.status)
        if p.value is not None and not (p.value <= 0 and "y" in view.log):
            row.update(value=p.value, shown=shown(p.value, of, relative), top=p.value)
            if p.low is not None and p.high is not None:
                low = max(p.low, p.value / 100) if "y" in view.log else p.low  # a log axis has no room for 0
                row.update(low=low, high=p.high, top=max(p.high, p.value))
                row["interval"] = f"{shown(p.low, of, relative)} to {shown(p.high, of, relative)}"
        if p.configurations > 1:
            row["mixes"] = ", ".join(f"{count} × {dimension(name).label}" for name, count in p.mixes.items())
        found.append(row)
    if relative and not numeric:
        facets = {p.facet for p in points}
        for mean in result.means:
            if mean.facet in facets:
                words = shown(mean.value, of, True)
                found.append({"x": GEOMETRIC_MEAN, "series": mean.series, "value": mean.value, "shown": words, "top": mean.value,
                              "runs": mean.n, "status": f"over {mean.n} of {mean.of}"})  # fmt: skip
    return found


def _width(result: Result) -> int:
    bars = max(len(result.xs), 1) * max(len(result.series), 1)
    return int(min(max(bars * 26 + 120, 420), 1000))


def _panel(result: Result, points: list[Point], look: str, width: int | str, height: int) -> Spec:
    view = result.view
    data = rows(result, points)
    named = dimension(view.x).kind == "text"
    bars = named and "y" not in view.log and len(data) <= MOST_BARS
    x, y = _x(result, data, width if isinstance(width, int) else 800), _y(result, data)
    colour = _colour(result)
    series = {"xOffset": {"field": "series", "sort": list(_names(result))}} if named and len(result.series) > 1 else {}
    base: Spec = {"x": x, **series}
    layers: list[Spec] = []
    layers += _marks(base, y, colour, bars, named, len(result.series) > 1)
    layers += _intervals(base, y, data, look, bars)
    if view.baseline:
        rule = {"type": "rule", "strokeDash": [4, 4], "color": theme(look)["quiet"]}
        layers.append({"mark": rule, "encoding": {"y": {"datum": 1}}})
    room = (width if isinstance(width, int) else 800) / max(len(result.xs) * len(result.series), 1)
    layers += _labels(base, y, look, len(result.series) > 1) if bars and room >= LABEL_ROOM else []
    layers += _words(base, data, look, named)
    return {"width": width, "height": height, "data": {"values": data}, "layer": layers}


def _names(result: Result) -> tuple[str, ...]:
    label = measure(result.view.y).label
    return tuple(s or label for s in result.series)


def _x(result: Result, data: list[dict[str, Any]], width: int) -> Spec:
    view, of = result.view, dimension(result.view.x)
    axis: Spec = {"labelAngle": 0}
    if of.kind == "text":
        values = [x or UNKNOWN for x in result.xs] + ([GEOMETRIC_MEAN] if any(r["x"] == GEOMETRIC_MEAN for r in data) else [])
        longest = max((len(v) for v in values), default=0)
        axis = {"labelAngle": -35 if longest * 7.5 * len(values) > width else 0}
        scale: Spec = {"paddingInner": 0.25, "paddingOuter": 0.12}
        return {"field": "x", "type": "nominal", "sort": values, "title": of.label, "axis": axis, "scale": scale}
    if of.kind == "date":
        return {"field": "x", "type": "temporal", "title": of.label, "axis": {**axis, "format": "%Y-%m-%d", "labelAngle": -35}}
    values_ = [float(x) for x in result.xs]
    if len(values_) <= 12:
        axis["values"] = values_
    scale = (
        {"type": "log", "base": 2, "nice": False}
        if "x" in view.log and min(values_, default=1) > 0
        else {"nice": True, "zero": False}
    )
    return {"field": "x", "type": "quantitative", "title": of.label, "axis": {**axis, "format": "~s"}, "scale": scale}


def _y(result: Result, data: list[dict[str, Any]]) -> Spec:
    view, of = result.view, measure(result.view.y)
    unit = f"× {view.baseline}" if view.baseline else of.unit
    scale: Spec = {"zero": True, "nice": True}
    if "y" in view.log:
        seen = [row[end] for row in data for end in ("value", "low", "high") if end in row]
        scale = {"type": "log", "nice": False, "domain": [min(seen, default=1) / 1.25, max(seen, default=10) * 1.25]}
    elif len(data) and max((r.get("top", 0) for r in data), default=0) == 0:
        scale = {"domain": [0, 1]}
    most = max((row.get("top", 0) for row in data), default=0)
    axis = {"format": number_format(of, bool(view.baseline), most), "tickCount": 6}
    return {
        "field": "value",
        "type": "quantitative",
        "title": f"{of.label}{f' ({unit})' if unit else ''}",
        "axis": axis,
        "scale": scale,
    }


def _colour(result: Result) -> Spec:
    legend: Spec | None = {"title": ", ".join(dimension(d).label for d in result.view.group) or None, "columns": 6}
    if result.series in ((), ("",)):
        legend = None
    return {
        "field": "series",
        "type": "nominal",
        "sort": list(_names(result)),
        "scale": {"domain": list(_names(result))},
        "legend": legend,
    }


TOOLTIP = [
    {"field": "x", "title": "x"}, {"field": "series", "title": "series"}, {"field": "shown", "title": "value"},
    {"field": "interval", "title": "95% interval"}, {"field": "runs", "title": "runs"}, {"field": "mixes", "title": "mixes"},
    {"field": "status", "title": "status"},
]  # fmt: skip


def _marks(base: Spec, y: Spec, colour: Spec, bars: bool, named: bool, many: bool) -> list[Spec]:
    figures = [{"filter": "isValid(datum.value)"}]
    tooltip = [{**t, "type": "quantitative" if t["field"] == "runs" else "nominal"} for t in TOOLTIP]
    encoding: Spec = {**base, "y": y, "color": colour, "tooltip": tooltip}
    if bars:
        return [{"transform": figures, "mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": encoding}]
    shape = {**colour, "scale": {**colour["scale"], "range": [SHAPES[i % len(SHAPES)] for i in range(len(colour["sort"]))]}}
    points = {**encoding, **({"shape": shape} if many else {})}
    dots: Spec = {"transform": figures, "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1}, "encoding": points}
    if named:
        return [dots]
    line: Spec = {"transform": figures, "mark": {"type": "line", "strokeWidth": 2}, "encoding": {**base, "y": y, "color": colour}}
    return [line, dots]


def _intervals(base: Spec, y: Spec, data: list[dict[str, Any]], look: str, bars: bool) -> list[Spec]:
    if not any("low" in row for row in data):
        return []
    keep = [{"filter": "isValid(datum.low)"}]
    y_low = {**y, "field": "low"}
    mark: Spec = {"type": "rule", "strokeWidth": 1.3, "opacity": 0.85, "color": theme(look)["rule"]}
    encoding: Spec = {**base, "y": y_low, "y2": {"field": "high"}}
    if not bars:
        mark.pop("color")
        encoding["color"] = {"field": "series", "type": "nominal"}
    return [{"transform": keep, "mark": mark, "encoding": encoding}]


def _labels(base: Spec, y: Spec, look: str, many: bool) -> list[Spec]:
    mark = {"type": "text", "dy": -6, "baseline": "bottom", "fontSize": 10.5 if many else 11.5, "color": theme(look)["text"]}
    encoding = {**base, "y": {**y, "field": "top"}, "text": {"field": "shown", "type": "nominal"}}
    return [{"transform": [{"filter": "isValid(datum.top)"}], "mark": mark, "encoding": encoding}]


def _words(base: Spec, data: list[dict[str, Any]], look: str, named: bool) -> list[Spec]:
    """What has no figure, in words, at the foot of its place. `not run` is quiet: it is nobody's fault."""
    without = [row for row in data if "value" not in row]
    if not without or (len(without) > MOST_WORDS and named):
        return []
    mark: Spec = {"type": "text", "angle": 270, "align": "left", "baseline": "middle", "dx": 4, "fontSize": 10.5}
    if not named:  # lines may run through the words, so they stand above the plot's foot as a cross with a tooltip
        mark = {"type": "point", "shape": "cross", "angle": 45, "size": 80, "filled": True, "opacity": 1, "yOffset": -6}
    quiet = {"test": f"datum.status === '{NOT_RUN}'", "value": theme(look)["quiet"]}
    encoding: Spec = {**base, "y": {"value": "height"}, "text": {"field": "status", "type": "nominal"},
                      "color": {"condition": quiet, "value": theme(look)["bad"]}}  # fmt: skip
    if not named:
        del encoding["text"]
        encoding["tooltip"] = [{"field": name, "type": "nominal"} for name in ("x", "series", "status")]
    return [{"transform": [{"filter": "!isValid(datum.value)"}], "mark": mark, "encoding": encoding}]

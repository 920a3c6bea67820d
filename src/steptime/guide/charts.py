"""The chart of a view: a form (forms.py), and the values that an answer puts into it. Both are pure.

Bars where x is a name, lines where it is a number or a date; points in place of bars on a log axis, which has no zero for
a bar to stand on. What has no figure is written in words where it would have stood. What depends on the size of the
chart (slanted labels, room for figures above bars) is decided by Vega when it draws, so that size is the reader's choice.
"""

from __future__ import annotations

import math
from typing import Any

from steptime.guide.dimensions import NOT_RUN, dimension, measure
from steptime.guide.forms import Spec, fill, hole, unless, when
from steptime.guide.results import Result
from steptime.guide.state import View
from steptime.guide.theme import SCHEMA, SHAPES, figure_words, look_of, status_words

GEOMETRIC_MEAN = "geometric mean"
UNKNOWN = "unknown"
MOST_BARS, MOST_WORDS, MOST_TICKS = 120, 60, 12
LABEL_ROOM = 46
"""pixels that a bar needs for its figure to fit above it"""
LETTER = 7.5
"""pixels of a letter of an axis, about"""
LINE: Spec = {"type": "line", "strokeWidth": 2}
DOT: Spec = {"type": "point", "filled": True, "size": 75, "opacity": 1}
CROSS: Spec = {"type": "point", "shape": "cross", "angle": 45, "size": 80, "filled": True, "opacity": 1, "yOffset": -6}
WHISKER: Spec = {"type": "rule", "strokeWidth": 1.4, "opacity": 0.85}


def spec(result: Result, look: str = "light", **layout: Any) -> Spec:
    """The chart of a view, whole."""
    return fill(open_spec(result), {**look_of(look), **natural(result), **layout})  # type: ignore[no-any-return]


def open_spec(result: Result) -> Spec:
    """The chart of a view but for its theme and its size."""
    return fill(form(), values(result))  # type: ignore[no-any-return]


def natural(result: Result) -> dict[str, Any]:
    """The size of a chart that nobody has told how much room there is."""
    many = len(result.xs)
    if _faceted(result):
        return {"titled": True, "fitted": False, "columns": 3, "width": 300 if many < 12 else 420, "height": 220, "entries": 6}
    bars = max(many + (_named(result.view) and bool(result.means)), 1) * max(len(result.series), 1)
    width = int(min(max(bars * LABEL_ROOM + 60, 420), 1000))
    return {"titled": True, "fitted": False, "columns": 1, "width": width, "height": 320, "entries": max(width // 150, 1)}


def heading(view: View) -> str:
    label = measure(view.y).label
    per = "" if view.series or not view.group else f", per {' and '.join(dimension(g).label for g in view.group)}"
    return f"{label[0].upper()}{label[1:]} by {dimension(view.x).label}{per}"


def subtitle(result: Result) -> str:
    """What the figures are."""
    view, of = result.view, measure(result.view.y)
    runs = f"{result.runs:,} run{'' if result.runs == 1 else 's'}"
    if view.baseline:
        parts = [f"relative to {view.baseline} = 1", f"{of.better} is better", runs]
    else:
        parts = [of.unit if of.form == "number" else "", f"{of.better} is better"]
        parts += ["best run of each" if view.agg == "best" else f"{view.agg} of each", runs]
    return " · ".join(filter(None, [*parts, "95% intervals" if any(p.low is not None for p in result.points) else ""]))


def chosen(view: View) -> str:
    """Which runs they come from."""
    words = (f"{dimension(k).label}: {', '.join(v[:3])}{' …' if len(v) > 3 else ''}" for k, v in view.filters)
    return " · ".join(words)[:160]


def rows(result: Result) -> list[dict[str, Any]]:
    """The data of a chart; `point` is the place of a row among the points of the answer."""
    view = result.view
    named, numeric, faceted = _named(view), dimension(view.x).kind == "number", _faceted(result)
    label = measure(view.y).label
    found = []
    for i, p in enumerate(result.points):
        row = {"x": float(p.x) if numeric else p.x or UNKNOWN, "series": p.series or label, "value": p.value, "low": p.low,
               "high": p.high, "runs": p.runs, "status": status_words(p.status), "point": i}  # fmt: skip
        if p.configurations > 1 and p.mixes:
            row["mixes"] = ", ".join(f"{count} × {dimension(name).label}" for name, count in p.mixes.items())
        found.append({**row, "facet": p.facet or UNKNOWN} if faceted else row)
    for mean in result.means if named else ():
        row = {"x": GEOMETRIC_MEAN, "series": mean.series or label, "value": mean.value, "low": None, "high": None,
               "runs": mean.n, "status": f"over {mean.n} of {mean.of}"}  # fmt: skip
        found.append({**row, "facet": mean.facet or UNKNOWN} if faceted else row)
    return found


def values(result: Result) -> dict[str, Any]:
    """What the answer puts into the form: data, words, orders, and which parts there are."""
    view, of, by = result.view, measure(result.view.y), dimension(result.view.x)
    data, named, faceted, relative = rows(result), _named(view), _faceted(result), bool(view.baseline)
    names = [s or of.label for s in result.series]
    xs: list[Any] = [x or UNKNOWN for x in result.xs] + [GEOMETRIC_MEAN] * (named and bool(result.means))
    if by.kind == "number":
        xs = [float(x) for x in result.xs]
    unit = f"× {view.baseline}" if relative else of.unit if of.form == "number" else ""
    without = sum(row["value"] is None or ("y" in view.log and row["value"] <= 0) for row in data)
    wide = "child_width" if faceted else "width"
    letters = max(map(len, xs), default=0) * len(xs) if named else 0
    return {
        "rows": data, "xs": xs, "series": names, "facets": [f or UNKNOWN for f in result.facets],
        "heading": heading(view), "subtitle": list(filter(None, [subtitle(result), chosen(view)])),
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
    }  # fmt: skip


def _named(view: View) -> bool:
    return dimension(view.x).kind == "text"


def _faceted(result: Result) -> bool:
    return bool(result.view.facet) and len(result.facets) > 1


TOOLTIP = [
    {"field": "x", "title": "x", "type": "nominal"}, {"field": "series", "title": "series", "type": "nominal"},
    {"field": "shown", "title": "value", "type": "nominal"}, {"field": "interval", "title": "95% interval", "type": "nominal"},
    {"field": "runs", "title": "runs", "type": "quantitative"}, {"field": "mixes", "title": "mixes", "type": "nominal"},
    {"field": "status", "title": "status", "type": "nominal"},
]  # fmt: skip


def form() -> Spec:
    panel = {"width": hole("width"), "height": hole("height"), "layer": _layers()}
    facet = {"field": "facet", "type": "nominal", "sort": hole("facets"), "title": None,
             "header": {"labelFontSize": 13, "labelFontWeight": 600, "labelAnchor": "start", "labelPadding": 8}}  # fmt: skip
    return {
        **top(),
        "params": when("named", [{"name": "slanted", "expr": hole("slanted")}, {"name": "roomy", "expr": hole("roomy")}]),
        "data": {"values": hole("rows")},
        "transform": _worked_out(),
        "facet": when("faceted", facet),
        "columns": when("faceted", hole("columns")),
        "spacing": when("faceted", 28),
        "spec": when("faceted", panel),
        "resolve": when("faceted", {"axis": {"x": "independent", "y": "independent"}}),
        **{key: unless("faceted", part) for key, part in panel.items()},
    }


def top() -> Spec:
    """What all charts begin with."""
    fitted = {"type": "fit", "contains": "padding"}
    return {
        "$schema": SCHEMA,
        "config": hole("config"),
        "autosize": when("fitted", fitted),
        "title": when("titled", {"text": hole("heading"), "subtitle": hole("subtitle")}),
    }


def _worked_out() -> list[Spec]:
    """Words for figures, and where a bar and its whisker end. A log axis has no room for 0."""

    def text(field: str) -> Any:
        return when("percent", figure_words(field, "percent"), when("bytes", figure_words(field, "bytes"),
               when("ratio", figure_words(field, "ratio"), figure_words(field, "number"))))  # fmt: skip

    nothing = {"calculate": "isValid(datum.value) && datum.value <= 0 ? '0' : datum.status", "as": "status"}
    positive = {"calculate": "datum.value > 0 ? datum.value : null", "as": "value"}
    lowest = {"calculate": "isValid(datum.low) ? max(datum.low, datum.value / 100) : null", "as": "low"}
    return [
        {"calculate": text("value"), "as": "shown"},
        when("intervals", {"calculate": text("low"), "as": "from"}),
        when("intervals", {"calculate": text("high"), "as": "to"}),
        when("intervals", {"calculate": "isValid(datum.low) ? datum.from + ' to ' + datum.to : null", "as": "interval"}),
        *(when("log_y", step) for step in (nothing, positive, lowest)),
        when("bars", {"calculate": "isValid(datum.high) ? max(datum.high, datum.value) : datum.value", "as": "top"}),
    ]


def _layers() -> list[Spec]:
    base = {"x": _x(), "xOffset": when("named", when("many", {"field": "series", "type": "nominal", "sort": hole("series")}))}
    y, colour = _y(), series_colour(hole("series"), hole("legend_title"))
    figures, ends = [{"filter": "isValid(datum.value)"}], [{"filter": "isValid(datum.low)"}]
    encoding = {**base, "y": y, "color": colour}
    shape = {**colour, "scale": {"domain": hole("series"), "range": list(SHAPES)}}
    whisker = {**encoding, "y": {**y, "field": "low"}, "y2": {"field": "high"},
               "color": when("bars", {"value": hole("rule")}, colour)}  # fmt: skip
    label = {**base, "y": {**y, "field": "top"}, "text": {"field": "shown", "type": "nominal"}}
    size = when("many", 10.5, 11.5)
    return [
        unless("named", {"transform": figures, "mark": LINE, "encoding": encoding}),
        when("bars", {"transform": figures, "mark": {"type": "bar", "cornerRadiusEnd": 2},
                      "encoding": {**encoding, "tooltip": TOOLTIP}},
             {"transform": figures, "mark": DOT,
              "encoding": {**encoding, "shape": when("many", shape), "tooltip": TOOLTIP}}),
        when("relative", reference("y", 1)),
        when("intervals", {"transform": ends, "mark": WHISKER, "encoding": whisker}),
        when("bars", {"transform": [{"filter": "isValid(datum.top)"}], "encoding": label,
                      "mark": {"type": "text", "dy": -6, "baseline": "bottom", "fontSize": size, "color": hole("text"),
                               "opacity": {"expr": "roomy ? 1 : 0"}}}),
        when("gaps", when("named", _words(base), _crosses(base))),
    ]  # fmt: skip


def reference(axis: str, at: Any) -> Spec:
    """One dashed line, not one for each row."""
    mark = {"type": "rule", "strokeDash": [4, 4], "color": hole("quiet")}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": {axis: {"datum": at, "type": "quantitative"}}}


def series_colour(names: Any, title: Any) -> Spec:
    """The same in every layer, or there would be a legend for each."""
    legend = when("legend", {"title": title, "columns": hole("entries"), "symbolOpacity": 1}, None)
    return {"field": "series", "type": "nominal", "sort": names, "scale": {"domain": names}, "legend": legend}


def _x() -> Spec:
    named = {"field": "x", "type": "nominal", "sort": hole("xs"), "title": hole("x_title"),
             "axis": {"labelAngle": {"expr": "slanted ? -35 : 0"}, "labelAlign": {"expr": "slanted ? 'right' : 'center'"},
                      "labelBaseline": "top", "ticks": False},
             "scale": {"domain": hole("xs"), "paddingInner": 0.25, "paddingOuter": 0.12}}  # fmt: skip
    dated = {"field": "x", "type": "temporal", "title": hole("x_title"), "scale": {"type": "utc", "padding": 16},
             "axis": {"format": "%Y-%m-%d", "labelOverlap": True, "tickCount": 6}}  # fmt: skip
    numbers = {"field": "x", "type": "quantitative", "title": hole("x_title"),
               "axis": {"values": when("few", hole("xs")), "format": ",~r", "labelOverlap": True},
               "scale": when("log_x", {"type": "log", "base": 2, "nice": False, "padding": 16},
                             {"zero": False, "nice": False, "padding": 16})}  # fmt: skip
    return when("named", named, when("dated", dated, numbers))


def _y() -> Spec:
    linear = when("flat", {"domain": [0, 1]}, {"zero": True, "nice": True})
    scale = when("log_y", {"type": "log", "nice": False, "padding": 16}, linear)
    number = "abs(datum.value) >= 1e6 ? format(datum.value, '~s') : format(datum.value, ',~r')"
    axis = {
        "labelExpr": when("percent", "format(datum.value, '~%')", when("bytes", "format(datum.value, '~s') + 'B'", number)),
        "tickCount": 6,
        "labelOverlap": True,
    }
    return {"field": "value", "type": "quantitative", "title": hole("y_title"), "axis": axis, "scale": scale}


def _words(base: Spec) -> Spec:
    """What has no figure, at the foot of its place. `not run` is quiet: it is nobody's fault."""
    mark = {"type": "text", "angle": 270, "align": "left", "baseline": "middle", "dx": 4, "fontSize": 10.5}
    encoding = {**base, "y": {"value": "height"}, "text": {"field": "status", "type": "nominal"}, "color": _blame()}
    return {"transform": [{"filter": "!isValid(datum.value)"}], "mark": mark, "encoding": encoding}


def _crosses(base: Spec) -> Spec:
    """Lines may run through words, so what has no figure is a cross at the foot of the plot, with a tooltip."""
    tooltip = [{"field": name, "type": "nominal"} for name in ("x", "series", "status")]
    encoding = {**base, "y": {"value": "height"}, "color": _blame(), "tooltip": tooltip}
    return {"transform": [{"filter": "!isValid(datum.value)"}], "mark": CROSS, "encoding": encoding}


def _blame() -> Spec:
    return {"condition": {"test": f"datum.status === '{NOT_RUN}'", "value": hole("quiet")}, "value": hole("bad")}

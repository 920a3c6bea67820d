"""The form of the chart of a view: its layers, axes and marks, with holes for what an answer says (forms.py).

Bars where x is a name, lines where it is a number or a date; points in place of bars on a log axis, which has no zero for
a bar to stand on. What has no figure is written in words where it would have stood. What depends on the size of the
chart (slanted labels, room for figures above bars) is decided by Vega when it draws, so that size is the reader's choice.
"""

from __future__ import annotations

from typing import Any

from steptime.guide.charts.spec_template import Spec, hole, unless, when
from steptime.guide.charts.theme import SCHEMA, SHAPES, format_expression
from steptime.guide.view.dimensions import NOT_RUN

LINE: Spec = {"type": "line", "strokeWidth": 2}
DOT: Spec = {"type": "point", "filled": True, "size": 75, "opacity": 1}
CROSS: Spec = {"type": "point", "shape": "cross", "angle": 45, "size": 80, "filled": True, "opacity": 1, "yOffset": -6}
WHISKER: Spec = {"type": "rule", "strokeWidth": 1.4, "opacity": 0.85}
TOOLTIP = [
    {"field": "x", "title": "x", "type": "nominal"}, {"field": "series", "title": "series", "type": "nominal"},
    {"field": "shown", "title": "value", "type": "nominal"}, {"field": "interval", "title": "95% interval", "type": "nominal"},
    {"field": "runs", "title": "runs", "type": "quantitative"}, {"field": "mixes", "title": "mixes", "type": "nominal"},
    {"field": "status", "title": "status", "type": "nominal"},
]  # fmt: skip


def form() -> Spec:
    panel = {"width": hole("width"), "height": hole("height"), "layer": _layers()}
    facet = {"field": "facet", "type": "nominal", "sort": hole("facets"), "title": None,
             "header": {"labelFontSize": 13, "labelFontWeight": 600, "labelAnchor": "start", "labelPadding": 8,
                        "labelLimit": 220}}  # fmt: skip
    return {
        **top(),
        "params": when("named", [{"name": name, "expr": hole(name)} for name in ("slanted", "roomy", "crowded")]),
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
        return when("percent", format_expression(field, "percent"), when("bytes", format_expression(field, "bytes"),
               when("ratio", format_expression(field, "ratio"), format_expression(field, "number"))))  # fmt: skip

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
                      "labelBaseline": "top", "labelOverlap": {"expr": "crowded"}, "labelLimit": 160, "ticks": False},
             "scale": {"domain": hole("xs"), "paddingInner": 0.25, "paddingOuter": 0.12}}  # fmt: skip
    dated = {"field": "x", "type": "temporal", "title": hole("x_title"), "scale": {"type": "utc", "padding": 16},
             "axis": {"format": "%Y-%m-%d", "labelOverlap": True, "tickCount": 6}}  # fmt: skip
    numbers = {"field": "x", "type": "quantitative", "title": hole("x_title"),
               "axis": {"values": when("few", hole("xs")), "format": ",~r", "labelOverlap": True},
               "scale": when("log_x", {"type": "log", "base": 2, "nice": False, "padding": 16},
                             {"zero": False, "nice": False, "padding": 16})}  # fmt: skip
    return when("named", named, when("dated", dated, numbers))


def _y() -> Spec:
    linear = when("flat", {"domain": [0, 1]}, {"zero": True, "nice": 6})
    scale = when("log_y", {"type": "log", "nice": False, "padding": 16}, linear)
    number = "abs(datum.value) >= 1e6 ? format(datum.value, '~s') : format(datum.value, ',~r')"
    axis = {
        "labelExpr": when("percent", "format(datum.value, '~%')", when("bytes", "format(datum.value, '~s') + 'B'", number)),
        "tickCount": 6,
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

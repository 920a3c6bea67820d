"""The template of the explorer's chart: its layers, axes and marks.

Bars where x is a name, lines where it is a number or a date; points in place of bars on a log axis, which has no zero for
a bar to stand on. What has no figure is written in words where it would have stood. What depends on the size of the
chart (slanted labels, room for figures above bars) is decided by Vega when it draws, so that size is the reader's choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steptime.guide.charts.spec_template import Spec, slot, unless, when
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
    {"field": "configuration", "title": "configuration", "type": "nominal"},
    {"field": "status", "title": "status", "type": "nominal"},
]  # fmt: skip
LONGEST_NAME = 37
"""letters of a name in the legend; more are cut off"""


def template() -> Spec:
    panel = {"width": slot("width"), "height": slot("height"), "layer": _layers()}
    facet = {"field": "facet", "type": "nominal", "sort": slot("facets"), "title": None,
             "header": {"labelFontSize": 13, "labelFontWeight": 600, "labelAnchor": "start", "labelPadding": 8,
                        "labelLimit": 220}}  # fmt: skip
    return {
        **frame(),
        "params": when("named", [{"name": name, "expr": slot(name)} for name in ("slanted", "roomy", "crowded")]),
        "data": {"values": slot("rows")},
        "transform": _transforms(),
        "facet": when("faceted", facet),
        "columns": when("faceted", slot("columns")),
        "spacing": when("faceted", 28),
        "spec": when("faceted", panel),
        "resolve": when("faceted", {"axis": {"x": "independent", "y": "independent"}}),
        **{key: unless("faceted", part) for key, part in panel.items()},
    }


def frame() -> Spec:
    """What all charts have: schema, theme, size, title."""
    fitted = {"type": "fit", "contains": "padding"}
    return {
        "$schema": SCHEMA,
        "config": slot("config"),
        "autosize": when("fitted", fitted),
        "title": when("titled", {"text": slot("heading"), "subtitle": slot("subtitle")}),
    }


def _transforms() -> list[Spec]:
    """Figures as text, and where a bar and its whisker end. A log axis has no 0."""

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
    base = {"x": _x(), "xOffset": when("named", when("many", {"field": "series", "type": "nominal", "sort": slot("series")}))}
    y, colour = _y(), series_colour(slot("series"), slot("legend_title"))
    figures, ends = [{"filter": "isValid(datum.value)"}], [{"filter": "isValid(datum.low)"}]
    encoding = {**base, "y": y, "color": colour}
    shape = {**colour, "scale": {"domain": slot("series"), "range": list(SHAPES)}}
    whisker = {**encoding, "y": {**y, "field": "low"}, "y2": {"field": "high"},
               "color": when("bars", {"value": slot("rule")}, colour)}  # fmt: skip
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
                      "mark": {"type": "text", "dy": -6, "baseline": "bottom", "fontSize": size, "color": slot("text"),
                               "opacity": {"expr": "roomy ? 1 : 0"}}}),
        when("gaps", when("named", _status_labels(base), _status_marks(base))),
    ]  # fmt: skip


def reference(axis: str, at: Any) -> Spec:
    """One dashed line, not one for each row."""
    mark = {"type": "rule", "strokeDash": [4, 4], "color": slot("quiet")}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": {axis: {"datum": at, "type": "quantitative"}}}


def series_colour(names: Any, title: Any) -> Spec:
    """The same in every layer, or there would be a legend for each."""
    legend = when("legend", {"title": title, "columns": slot("entries"), "symbolOpacity": 1}, None)
    return {"field": "series", "type": "nominal", "sort": names, "scale": {"domain": names}, "legend": legend}


def _x() -> Spec:
    named = {"field": "x", "type": "nominal", "sort": slot("xs"), "title": slot("x_title"),
             "axis": {"labelAngle": {"expr": "slanted ? -35 : 0"}, "labelAlign": {"expr": "slanted ? 'right' : 'center'"},
                      "labelBaseline": "top", "labelOverlap": {"expr": "crowded"}, "labelLimit": 160, "ticks": False},
             "scale": {"domain": slot("xs"), "paddingInner": 0.25, "paddingOuter": 0.12}}  # fmt: skip
    dated = {"field": "x", "type": "temporal", "title": slot("x_title"), "scale": {"type": "utc", "padding": 16},
             "axis": {"format": "%Y-%m-%d", "labelOverlap": True, "tickCount": 6}}  # fmt: skip
    numbers = {"field": "x", "type": "quantitative", "title": slot("x_title"),
               "axis": {"values": when("few", slot("xs")), "format": ",~r", "labelOverlap": True},
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
    return {"field": "value", "type": "quantitative", "title": slot("y_title"), "axis": axis, "scale": scale}


def _status_labels(base: Spec) -> Spec:
    """Why there is no figure, written where the bar would stand. `not run` is grey: nothing failed."""
    mark = {"type": "text", "angle": 270, "align": "left", "baseline": "middle", "dx": 4, "fontSize": 10.5}
    encoding = {**base, "y": {"value": "height"}, "text": {"field": "status", "type": "nominal"}, "color": _status_colour()}
    return {"transform": [{"filter": "!isValid(datum.value)"}], "mark": mark, "encoding": encoding}


def _status_marks(base: Spec) -> Spec:
    """Lines may cross text, so a missing figure is a cross at the foot of the plot, with a tooltip."""
    tooltip = [{"field": name, "type": "nominal"} for name in ("x", "series", "status")]
    encoding = {**base, "y": {"value": "height"}, "color": _status_colour(), "tooltip": tooltip}
    return {"transform": [{"filter": "!isValid(datum.value)"}], "mark": CROSS, "encoding": encoding}


def _status_colour() -> Spec:
    return {"condition": {"test": f"datum.status === '{NOT_RUN}'", "value": slot("quiet")}, "value": slot("bad")}


def legend_columns(width: int, names: Sequence[str]) -> int:
    """How many names of the legend fit side by side."""
    return max(1, width // (7 * min(max([4, *map(len, names)]), LONGEST_NAME) + 34))

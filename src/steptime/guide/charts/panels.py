"""The charts of the other views: scaling, coverage, comparison. Forms and values, as in charts.py."""

from __future__ import annotations

from typing import Any

from steptime.guide.charts.chart_template import CROSS, DOT, LINE, WHISKER, reference, series_colour, top
from steptime.guide.charts.chart_values import UNKNOWN, entries
from steptime.guide.charts.spec_template import Spec, fill, hole, when
from steptime.guide.charts.theme import SHAPES, VERDICT_COLOURS, look_of, status_colour, status_words
from steptime.guide.query.results import Comparison, Coverage, Scaling
from steptime.guide.view.dimensions import NOT_RUN, STATUSES, dimension, measure

CELLS = (*STATUSES, "contended", "no figure", NOT_RUN)
"""what a cell of the coverage matrix may be"""
WIDE = 4
"""ratios that are further apart than this are shown on a log axis, where half and double are equally far from 1"""
SCALES = ("throughput", "speedup", "efficiency")


def scaling_spec(scaling: Scaling, look: str = "light", **layout: Any) -> Spec:
    names = [line.series or f"batch {line.batch}" for line in scaling.lines]
    natural = {"titled": True, "fitted": False, "width": 320, "height": 280, "columns": 3, "entries": entries(1000, names)}
    return fill(open_scaling(scaling), {**look_of(look), **natural, **layout})  # type: ignore[no-any-return]


def open_scaling(scaling: Scaling) -> Spec:
    return fill(scaling_form(), scaling_values(scaling))  # type: ignore[no-any-return]


def scaling_values(scaling: Scaling) -> dict[str, Any]:
    view = scaling.view
    names = [line.series or f"batch {line.batch}" for line in scaling.lines]
    rows = [
        {"devices": p.devices, "series": name, "throughput": p.throughput, "throughput_low": p.low, "throughput_high": p.high,
         "ideal": p.ideal, **{f"{kind}{end}": getattr(p, f"{kind}{end}") for kind in SCALES[1:] for end in ("", "_low", "_high")},
         "runs": p.runs, "status": status_words(p.status)}
        for name, line in zip(names, scaling.lines, strict=True) for p in line.points
    ]  # fmt: skip
    words = "each device keeps its batch" if view.scaling == "weak" else "all devices share one batch"
    words += " · dashed: perfect scaling" if any(row["ideal"] is not None for row in rows) else ""
    words += " · 95% intervals" if any(row["throughput_low"] is not None for row in rows) else ""
    return {
        "rows": rows, "series": names, "legend": len(names) > 1, "devices": sorted({row["devices"] for row in rows}),
        "heading": f"{view.scaling.capitalize()} scaling", "subtitle": [words],
        "log_x": "x" in view.log, "log_y": "y" in view.log,
        "based": any(row["speedup"] is not None for row in rows), "ideal": any(row["ideal"] is not None for row in rows),
        "failed": any(row["throughput"] is None for row in rows),
        **{f"{kind}_ends": any(row[f"{kind}_low"] is not None for row in rows) for kind in SCALES},
    }  # fmt: skip


def scaling_form() -> Spec:
    """Throughput beside the ideal, speed-up, efficiency. What has no run on one device has no ideal and neither of these."""
    dashed = {"type": "line", "strokeDash": [5, 4], "opacity": 0.6, "strokeWidth": 1.5}
    ideal = {"transform": [{"filter": "isValid(datum.ideal)"}], "mark": dashed,
             "encoding": {"x": _devices(), "y": {"field": "ideal", "type": "quantitative"}, "color": _line_colour()}}  # fmt: skip
    diagonal = {"mark": {**dashed, "color": hole("quiet")},
                "encoding": {"x": _devices(), "y": {"field": "devices", "type": "quantitative"}}}  # fmt: skip
    panels = [
        _panel("Throughput", "samples/s", "throughput", [when("ideal", ideal), when("failed", _failed())], "log_y"),
        when("based", _panel("Speed-up", "over one device", "speedup", [diagonal])),
        when("based", _panel("Efficiency", "share of perfect scaling", "efficiency", [reference("y", 1)])),
    ]
    return {**top(), "data": {"values": hole("rows")}, "columns": hole("columns"), "spacing": 32, "concat": panels}


def _panel(title: str, axis: str, field: str, beside: list[Spec], log: str = "") -> Spec:
    x, colour = _devices(), _line_colour()
    form = ".0%" if field == "efficiency" else ",~r"
    linear = {"zero": True, "nice": 6}
    scale = when(log, {"type": "log", "nice": False, "padding": 14}, linear) if log else linear
    y = {"field": field, "type": "quantitative", "title": axis, "scale": scale, "axis": {"format": form, "tickCount": 6}}
    shape = {**colour, "scale": {"domain": hole("series"), "range": list(SHAPES)}}
    tips = [{"field": name, "type": "nominal"} for name in ("series", "devices", "runs", "status")]
    tips.insert(2, {"field": field, "type": "quantitative", "format": form if form == ".0%" else ",.4~r"})
    keep, ends = [{"filter": f"isValid(datum.{field})"}], [{"filter": f"isValid(datum.{field}_low)"}]
    encoding = {"x": x, "y": y, "color": colour}
    whisker = {**encoding, "y": {**y, "field": f"{field}_low"}, "y2": {"field": f"{field}_high"}}
    layers = [
        {"transform": keep, "mark": LINE, "encoding": encoding},
        *beside,
        when(f"{field}_ends", {"transform": ends, "mark": WHISKER, "encoding": whisker}),
        {"transform": keep, "mark": DOT, "encoding": {**encoding, "shape": shape, "tooltip": tips}},
    ]
    heading = {"text": title, "fontSize": 13, "offset": 8}
    return {"title": heading, "width": hole("width"), "height": hole("height"), "layer": layers}


def _devices() -> Spec:
    scale = when("log_x", {"type": "log", "base": 2, "nice": False, "padding": 14}, {"zero": False, "nice": False, "padding": 14})
    axis = {"values": hole("devices"), "format": "d", "labelOverlap": True}
    return {"field": "devices", "type": "quantitative", "title": "devices", "axis": axis, "scale": scale}


def _line_colour() -> Spec:
    return series_colour(hole("series"), None)


def _failed() -> Spec:
    tooltip = [{"field": name, "type": "nominal"} for name in ("series", "devices", "status")]
    return {"transform": [{"filter": "!isValid(datum.throughput)"}], "mark": {**CROSS, "color": hole("bad")},
            "encoding": {"x": _devices(), "y": {"value": "height"}, "tooltip": tooltip}}  # fmt: skip


def coverage_spec(coverage: Coverage, look: str = "light", **layout: Any) -> Spec:
    return fill(coverage_form(), {**coverage_values(coverage), **look_of(look), "titled": True, "fitted": False, **layout})  # type: ignore[no-any-return]


def coverage_values(coverage: Coverage) -> dict[str, Any]:
    rows = [{"x": c.x or UNKNOWN, "row": c.row, "status": status_words(c.status), "runs": c.runs or None} for c in coverage.cells]
    measured = f"{coverage.counts.get('ok', 0)} of {len(coverage.cells)} combinations are measured · figures: runs"
    return {
        "rows": rows, "xs": [x or UNKNOWN for x in coverage.xs], "ys": list(coverage.rows),
        "present": list(dict.fromkeys(row["status"] for row in rows)),
        "x_title": dimension(coverage.view.x).label, "y_title": ", ".join(dimension(d).label for d in coverage.of),
        "heading": "Coverage", "subtitle": [measured],
    }  # fmt: skip


def coverage_form() -> Spec:
    """A cell for every combination: measured, failed in which way, or never run."""
    x = {"field": "x", "type": "nominal", "sort": hole("xs"), "title": hole("x_title"),
         "axis": {"orient": "top", "labelAngle": -35, "ticks": False, "domain": False}}  # fmt: skip
    y = {"field": "row", "type": "nominal", "sort": hole("ys"), "title": hole("y_title"), "axis": {"ticks": False}}
    scale = {"domain": [status_words(s) for s in CELLS], "range": [status_colour(s) for s in CELLS]}
    legend = {"title": None, "orient": "bottom", "values": hole("present")}
    faint = {"condition": {"test": f"datum.status === '{NOT_RUN}'", "value": 0.18}, "value": 0.9}
    colour = {"field": "status", "type": "nominal", "scale": scale, "legend": legend}
    tooltip = [{"field": name, "type": "nominal"} for name in ("x", "row", "status", "runs")]
    cell = {"mark": {"type": "rect", "cornerRadius": 3, "stroke": hole("background"), "strokeWidth": 3},
            "encoding": {"x": x, "y": y, "color": colour, "opacity": faint, "tooltip": tooltip}}  # fmt: skip
    text = {"transform": [{"filter": "isValid(datum.runs)"}],
            "mark": {"type": "text", "color": "#ffffff", "fontSize": 11, "fontWeight": 600},
            "encoding": {"x": x, "y": y, "text": {"field": "runs", "type": "quantitative", "format": ",d"}}}  # fmt: skip
    return {**top(), "width": {"step": 54}, "height": {"step": 34}, "data": {"values": hole("rows")}, "layer": [cell, text]}


def compare_spec(comparison: Comparison, look: str = "light", **layout: Any) -> Spec:
    natural = {"titled": True, "fitted": False, "width": 460}
    return fill(compare_form(), {**compare_values(comparison), **look_of(look), **natural, **layout})  # type: ignore[no-any-return]


def compare_values(comparison: Comparison) -> dict[str, Any]:
    first = comparison.sides[0].name
    rows: list[dict[str, Any]] = [
        {"name": d.name, "ratio": d.ratio, "low": d.low, "high": d.high, "verdict": d.verdict, "words": d.words}
        for d in comparison.differences
    ]
    ratios = [1.0, *(row[end] for row in rows for end in ("low", "ratio", "high") if row[end])]
    return {
        "wide": max(ratios) > WIDE * min(ratios),
        "rows": rows, "present": list(dict.fromkeys(row["verdict"] for row in rows)), "ends": any(row["low"] for row in rows),
        "x_title": f"{measure(comparison.view.y).label} relative to {first}", "heading": f"Compared with {first}",
        "subtitle": ["dots: ratio · lines: its 95% interval"],
    }  # fmt: skip


def compare_form() -> Spec:
    """Ratios to the first side, with intervals."""
    y = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 320}}
    x = {"field": "ratio", "type": "quantitative", "title": hole("x_title"),
         "scale": when("wide", {"type": "log", "nice": False, "padding": 20}, {"zero": False, "nice": False, "padding": 20}),
         "axis": {"format": ".3~r", "grid": True, "tickCount": 6}}  # fmt: skip
    colours = {"domain": list(VERDICT_COLOURS), "range": list(VERDICT_COLOURS.values())}
    colour = {"field": "verdict", "type": "nominal", "scale": colours, "legend": {"title": None, "values": hole("present")}}
    interval = {"mark": {"type": "rule", "strokeWidth": 3}, "transform": [{"filter": "isValid(datum.low)"}],
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour}}  # fmt: skip
    point = {"mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
             "transform": [{"filter": "isValid(datum.ratio)"}],
             "encoding": {"y": y, "x": x, "color": colour, "tooltip": [{"field": "words", "type": "nominal"}]}}  # fmt: skip
    return {**top(), "width": hole("width"), "height": {"step": 46}, "data": {"values": hole("rows")},
            "layer": [reference("x", 1), when("ends", interval), point]}  # fmt: skip

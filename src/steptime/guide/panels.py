"""The other charts: scaling, coverage, comparison, and the steps of one run. Pure functions, as in charts.py."""

from __future__ import annotations

from typing import Any

from steptime.guide.dimensions import dimension, measure
from steptime.guide.results import Comparison, Coverage, Scaling
from steptime.guide.theme import SCHEMA, SHAPES, Spec, config, sized, status_colour, status_words, theme
from steptime.schema import Record

MOST_STEPS = 4000
"""more are thinned out: of every stretch the fastest and the slowest step are kept"""


def _top(look: str, title: str, *subtitle: str) -> Spec:
    return {"$schema": SCHEMA, "config": config(look), "title": {"text": title, "subtitle": list(subtitle)}}


def scaling_spec(scaling: Scaling, look: str = "light", width: int = 380, height: int = 300) -> Spec:
    """Throughput beside the ideal, and efficiency. A line without a run on one device has no ideal and no efficiency."""
    names = [line.series or "runs" for line in scaling.lines]
    rows: list[dict[str, Any]] = [
        {"devices": p.devices, "series": line.series or "runs", "throughput": p.throughput, "low": p.low, "high": p.high,
         "ideal": p.ideal, "speedup": p.speedup, "efficiency": p.efficiency, "efficiency_low": p.efficiency_low,
         "efficiency_high": p.efficiency_high, "runs": p.runs, "status": status_words(p.status)}
        for line in scaling.lines for p in line.points
    ]  # fmt: skip
    devices = sorted({row["devices"] for row in rows})
    kind: Spec = (
        {"type": "log", "base": 2, "nice": False} if "x" in scaling.view.log else {"zero": False, "nice": False, "padding": 12}
    )
    x = {
        "field": "devices",
        "type": "quantitative",
        "title": "devices",
        "axis": {"values": devices, "format": "d"},
        "scale": kind,
    }
    colour = {"field": "series", "type": "nominal", "sort": names, "title": None, "scale": {"domain": names}}
    quiet = theme(look)["quiet"]
    speed = _lines(x, colour, "throughput", "throughput (samples/s)", ("low", "high"), "y" in scaling.view.log)
    ideal = {"mark": {"type": "line", "strokeDash": [5, 4], "opacity": 0.6}, "transform": [{"filter": "isValid(datum.ideal)"}],
             "encoding": {"x": x, "y": {"field": "ideal", "type": "quantitative"}, "color": colour}}  # fmt: skip
    share = _lines(x, colour, "efficiency", "efficiency", ("efficiency_low", "efficiency_high"), False)
    one = {"mark": {"type": "rule", "strokeDash": [5, 4], "color": quiet}, "encoding": {"y": {"datum": 1}}}
    words = "the replica batch stays the same" if scaling.view.scaling == "weak" else "the effective batch stays the same"
    panels = [
        {"width": width, "height": height, "layer": [*speed, ideal]},
        {"width": width, "height": height, "layer": [*share, one]},
    ]
    title = f"{scaling.view.scaling.capitalize()} scaling"
    subtitle = f"{words} · dashed: ideal · whiskers: 95% intervals"
    return {**_top(look, title, subtitle), "data": {"values": rows}, "hconcat": panels}


def _lines(x: Spec, colour: Spec, field: str, title: str, ends: tuple[str, str], log: bool) -> list[Spec]:
    scale: Spec = {"type": "log", "nice": False} if log else {"zero": True}
    axis = {"format": ".0%"} if field == "efficiency" else {"format": "~s"}
    y = {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    shapes = {**colour, "scale": {**colour["scale"], "range": [SHAPES[i % len(SHAPES)] for i in range(len(colour["sort"]))]}}
    tips = [{"field": name} for name in ("series", "devices", field, "speedup", "runs", "status")]
    keep = [{"filter": f"isValid(datum.{field})"}]
    encoding = {"x": x, "y": y, "color": colour}
    return [
        {"transform": keep, "mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding},
        {"transform": [{"filter": f"isValid(datum.{ends[0]})"}], "mark": "rule",
         "encoding": {**encoding, "y": {**y, "field": ends[0]}, "y2": {"field": ends[1]}}},
        {"transform": keep, "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1},
         "encoding": {**encoding, "shape": shapes, "tooltip": tips}},
    ]  # fmt: skip


def coverage_spec(coverage: Coverage, look: str = "light") -> Spec:
    """A cell for every combination: measured, failed in which way, or never run."""
    rows = [
        {"x": c.x or "unknown", "row": c.row, "status": status_words(c.status), "runs": c.runs or None} for c in coverage.cells
    ]
    statuses = list(dict.fromkeys(c.status for c in coverage.cells))
    columns = [x or "unknown" for x in coverage.xs]
    x = {"field": "x", "type": "nominal", "sort": columns, "title": dimension(coverage.view.x).label,
         "axis": {"orient": "top", "labelAngle": -35, "ticks": False, "domain": False}}  # fmt: skip
    labels = ", ".join(dimension(d).label for d in coverage.of)
    y = {"field": "row", "type": "nominal", "sort": list(coverage.rows), "title": labels, "axis": {"ticks": False}}
    ranges = {"domain": [status_words(s) for s in statuses], "range": [status_colour(s) for s in statuses]}
    colour = {"field": "status", "type": "nominal", "scale": ranges, "legend": {"title": None, "orient": "bottom"}}
    faint = {"condition": {"test": "datum.status === 'not run'", "value": 0.18}, "value": 0.9}
    cell = {"mark": {"type": "rect", "cornerRadius": 3, "stroke": theme(look)["background"], "strokeWidth": 3},
            "encoding": {"x": x, "y": y, "color": colour, "opacity": faint,
                         "tooltip": [{"field": name} for name in ("x", "row", "status", "runs")]}}  # fmt: skip
    text = {"transform": [{"filter": "isValid(datum.runs)"}],
            "mark": {"type": "text", "color": "#ffffff", "fontSize": 11, "fontWeight": 600},
            "encoding": {"x": x, "y": y, "text": {"field": "runs", "type": "quantitative"}}}  # fmt: skip
    total, measured = len(coverage.cells), coverage.counts.get("ok", 0)
    size = {"width": {"step": 54}, "height": {"step": 34}}
    return {**_top(look, "Coverage", f"{measured} of {total} combinations are measured · figures: runs"), **size,
            "data": {"values": rows}, "layer": [cell, text]}  # fmt: skip


def compare_spec(comparison: Comparison, look: str = "light", width: int = 460) -> Spec:
    """Ratios to the first side, with intervals."""
    colours = {"faster": "#009e73", "slower": "#d55e00", "same": "#56b4e9", "undecided": "#9aa4b2", "no figure": "#9aa4b2"}
    first = comparison.sides[0].name
    rows = [
        {"name": d.name, "ratio": d.ratio, "low": d.low, "high": d.high, "verdict": d.verdict, "words": d.words}
        for d in comparison.differences
    ]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 320}}
    x = {"field": "ratio", "type": "quantitative", "title": f"{measure(comparison.view.y).label} relative to {first}",
         "scale": {"zero": False, "padding": 20}, "axis": {"format": ".3~f", "grid": True}}  # fmt: skip
    colour = {
        "field": "verdict",
        "type": "nominal",
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "title": None,
    }
    one = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": theme(look)["quiet"]}, "encoding": {"x": {"datum": 1}}}
    interval = {"mark": {"type": "rule", "strokeWidth": 3}, "transform": [{"filter": "isValid(datum.low)"}],
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour}}  # fmt: skip
    point = {"mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
             "transform": [{"filter": "isValid(datum.ratio)"}],
             "encoding": {"y": y, "x": x, "color": colour, "tooltip": [{"field": "words"}]}}  # fmt: skip
    top = _top(look, f"Compared with {first}", "dots: ratio · lines: its 95% interval")
    return {**top, "width": width, "height": {"step": 46}, "data": {"values": rows}, "layer": [interval, one, point]}  # fmt: skip


def steps_spec(record: Record, look: str = "light", width: int | str = 760, height: int = 240) -> Spec:
    """Every step as it was timed, warm-up apart. A record without steps has an empty chart."""
    seconds = record.steps.seconds if record.steps else []
    start = record.steps.steady_start if record.steps else 0
    rows: list[dict[str, Any]] = [
        {"step": i + 1, "ms": 1e3 * seconds[i], "part": "warm-up" if i < start else "steady"}
        for i in thinned(seconds, MOST_STEPS)
    ]
    x = {"field": "step", "type": "quantitative", "title": "step", "scale": {"nice": False}, "axis": {"format": "~s"}}
    slow = bool(rows) and max(r["ms"] for r in rows) > 20 * sorted(r["ms"] for r in rows)[len(rows) // 2]
    y = {
        "field": "ms",
        "type": "quantitative",
        "title": "ms",
        "scale": {"type": "log", "nice": False} if slow else {"zero": False},
    }
    parts = {"domain": ["warm-up", "steady"], "range": ["#e69f00", theme(look)["series"][0]]}
    colour = {"field": "part", "type": "nominal", "scale": parts, "title": None}
    mark = {"type": "point", "filled": True, "size": 14 if len(rows) > 300 else 28, "opacity": 0.75}
    mean = [{"mark": {"type": "rule", "strokeDash": [4, 4], "color": theme(look)["quiet"]},
             "encoding": {"y": {"datum": 1e3 * record.summary.mean_seconds}}}] if record.summary else []  # fmt: skip
    words = f"{len(seconds):,} steps, the first {start} are warm-up" + (" · thinned out" if len(rows) < len(seconds) else "")
    points = {"mark": mark, "encoding": {"x": x, "y": y, "color": colour, "tooltip": [{"field": "step"}, {"field": "ms"}]}}
    return {**_top(look, "Steps", words), "width": width, "height": height, "data": {"values": rows}, "layer": [points, *mean]}


def thinned(seconds: list[float], most: int) -> list[int]:
    """Indices: all, or of every stretch the least and the greatest."""
    if len(seconds) <= most:
        return list(range(len(seconds)))
    width = -(-2 * len(seconds) // most)
    found = set()
    for first in range(0, len(seconds), width):
        stretch = range(first, min(first + width, len(seconds)))
        found |= {min(stretch, key=seconds.__getitem__), max(stretch, key=seconds.__getitem__)}
    return sorted(found)


def histogram_spec(record: Record, look: str = "light", width: int | str = 360, height: int = 200, bins: int = 40) -> Spec:
    """Of the steady steps."""
    seconds = record.steps.seconds[record.steps.steady_start :] if record.steps else []
    rows = []
    if seconds:
        low, high = min(seconds), max(seconds)
        width_ms = (high - low) / bins or 1e-9
        counts = [0] * bins
        for second in seconds:
            counts[min(int((second - low) / width_ms), bins - 1)] += 1
        rows = [
            {"from": 1e3 * (low + i * width_ms), "to": 1e3 * (low + (i + 1) * width_ms), "steps": n} for i, n in enumerate(counts)
        ]
    x = {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": "ms", "scale": {"zero": False}}
    y = {"field": "steps", "type": "quantitative", "title": "steps"}
    bar = {"mark": {"type": "bar"}, "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "tooltip": [{"field": "steps"}]}}
    memory = f"peak memory {sized(record.resources.peak_bytes)}" if record.resources else ""
    subtitle = " · ".join(filter(None, [f"{len(seconds):,} steady steps", memory]))
    return {**_top(look, "Distribution of steps", subtitle), "width": width, "height": height, "data": {"values": rows}, **bar}

"""The charts of one run: every step as it was timed, and how the steady ones spread. Templates and values.

Values have their data by columns: a report holds hundreds of runs, and a name for each figure would double its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steptime.core.schema import Record
from steptime.guide.charts.chart_template import frame, reference
from steptime.guide.charts.spec_template import Spec, fill, slot, when
from steptime.guide.charts.theme import format_bytes

MOST_STEPS = 1500
"""more are thinned out: of every stretch the fastest and the slowest step are kept"""
MOST_BINS = 40
Values = dict[str, Any]


def open_steps(record: Record) -> Spec:
    values = steps_values(record)
    return fill(steps_template(), {**values, "rows": by_row(values["columns"])})  # type: ignore[no-any-return]


def open_histogram(record: Record) -> Spec:
    values = histogram_values(record)
    return fill(histogram_template(), {**values, "rows": by_row(values["columns"])})  # type: ignore[no-any-return]


def by_row(columns: dict[str, list[Any]]) -> list[Values]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def steps_values(record: Record, most: int = MOST_STEPS) -> Values:
    seconds = record.steps.seconds if record.steps else []
    start = record.steps.steady_start if record.steps else 0
    kept = thinned(seconds, most)
    ms = [_milliseconds(seconds[i]) for i in kept]
    subtitle = f"{len(seconds):,} steps, the first {start} are warm-up" + (" · thinned out" if len(kept) < len(seconds) else "")
    return {
        "columns": {"step": [i + 1 for i in kept], "ms": ms},
        "start": start, "warm": start > 0, "until": start + 0.5, "dense": len(ms) > 300,
        "slow": bool(ms) and max(ms) > 20 * sorted(ms)[len(ms) // 2] > 0,
        "known": record.summary is not None, "mean": _milliseconds(record.summary.mean_seconds) if record.summary else None,
        "heading": "Steps", "subtitle": [subtitle],
    }  # fmt: skip


def _milliseconds(seconds: float) -> float:
    """Four digits: more than a chart shows."""
    return float(f"{seconds * 1e3:.4g}")


def thinned(seconds: Sequence[float], most: int) -> list[int]:
    """Indices: all, or of every stretch the least and the greatest."""
    if len(seconds) <= most:
        return list(range(len(seconds)))
    width = -(-2 * len(seconds) // most)
    kept = set()
    for first in range(0, len(seconds), width):
        stretch = range(first, min(first + width, len(seconds)))
        kept |= {min(stretch, key=seconds.__getitem__), max(stretch, key=seconds.__getitem__)}
    return sorted(kept)


def steps_template() -> Spec:
    x = {"field": "step", "type": "quantitative", "title": "step", "scale": {"nice": False}, "axis": {"format": "~s"}}
    y = {"field": "ms", "type": "quantitative", "title": "ms", "axis": {"tickCount": 5},
         "scale": when("slow", {"type": "log", "nice": False, "padding": 8}, {"zero": True})}  # fmt: skip
    parts = {"domain": ["warm-up", "steady"], "range": [slot("second"), slot("first")]}
    colour = {"field": "part", "type": "nominal", "scale": parts, "legend": {"title": None, "symbolOpacity": 1}}
    warm = {"data": {"values": [{}]}, "mark": {"type": "rect", "opacity": 0.12, "color": slot("second")},
            "encoding": {"x": {"datum": 0.5, "type": "quantitative"}, "x2": {"datum": slot("until")}}}  # fmt: skip
    tooltip = [{"field": "step", "type": "quantitative"}, {"field": "ms", "type": "quantitative"}]
    points = {"mark": {"type": "point", "filled": True, "size": when("dense", 14, 30), "opacity": 0.85},
              "encoding": {"x": x, "y": y, "color": colour, "tooltip": tooltip}}  # fmt: skip
    return {
        **frame(),
        "params": [{"name": "start", "value": slot("start")}],
        "width": slot("width"),
        "height": slot("height"),
        "data": {"values": slot("rows")},
        "transform": [{"calculate": "datum.step <= start ? 'warm-up' : 'steady'", "as": "part"}],
        "layer": [when("warm", warm), points, when("known", reference("y", slot("mean")))],
    }


def histogram_values(record: Record) -> Values:
    """Of the steady steps."""
    seconds = record.steps.seconds[record.steps.steady_start :] if record.steps else []
    columns: dict[str, list[Any]] = {"from": [], "to": [], "steps": []}
    if seconds:
        low, high = min(seconds), max(seconds)
        bins = max(5, min(MOST_BINS, math.ceil(2 * len(seconds) ** (1 / 3))))
        width = (high - low) / bins or 1e-9
        counts = [0] * bins
        for second in seconds:
            counts[min(int((second - low) / width), bins - 1)] += 1
        edges = [float(f"{1e3 * (low + i * width):.6g}") for i in range(bins + 1)]
        columns = {"from": edges[:-1], "to": edges[1:], "steps": counts}
    memory = f"peak memory {format_bytes(record.resources.peak_bytes)}" if record.resources else ""
    subtitle = " · ".join(filter(None, [f"{len(seconds):,} steady steps", memory]))
    return {"columns": columns, "heading": "Distribution of steps", "subtitle": [subtitle]}


def histogram_template() -> Spec:
    x = {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": "ms per step",
         "scale": {"zero": False, "nice": False}, "axis": {"tickCount": 5, "format": "~r"}}  # fmt: skip
    y = {"field": "steps", "type": "quantitative", "title": "steps", "axis": {"tickCount": 4, "format": "~s"}}
    tooltip = [{"field": name, "type": "quantitative"} for name in ("steps", "from", "to")]
    return {
        **frame(), "width": slot("width"), "height": slot("height"), "data": {"values": slot("rows")},
        "mark": {"type": "bar", "color": slot("first"), "binSpacing": 1},
        "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "tooltip": tooltip},
    }  # fmt: skip

"""The same thing on more and more devices: throughput, speed-up, efficiency, and the ideal line where there is one to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from steptime.core.schema import Status
from steptime.guide.charts.chart_template import CROSS, DOT, LINE, WHISKER, frame, legend_columns, reference, series_colour
from steptime.guide.charts.spec_template import Spec, slot, when
from steptime.guide.charts.theme import SHAPES, status_label
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import Kind
from steptime.guide.query import measure_sql
from steptime.guide.query.filter_sql import Select, intersection
from steptime.guide.query.points import UNKNOWN, main_status, ratio
from steptime.guide.query.results import Point, plain
from steptime.guide.query.warning_codes import ChartWarning, WarningCode, warning
from steptime.guide.view.dimensions import dimension, in_order
from steptime.guide.view.notation import Filters
from steptime.guide.view.texts import Text
from steptime.guide.view.view import View
from steptime.store.snapshot import Snapshot

SCALED = ("replicas", "nodes", "devices_per_node", "effective_batch", "replica_batch", "batch")
"""what grows along the axis, so that lines are not grouped by it"""
MOST_LINES = 20
SCALES = ("throughput", "speedup", "efficiency")


@dataclass(frozen=True)
class ScalingPoint:
    devices: int
    throughput: float | None
    low: float | None
    high: float | None
    ideal: float | None
    """throughput if it scaled perfectly from one device; None without a run on one device"""
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    efficiency: float | None
    efficiency_low: float | None
    efficiency_high: float | None
    runs: int
    status: str = "ok"


@dataclass(frozen=True)
class ScalingLine:
    """One configuration, on more and more devices: weak scaling keeps the replica batch, strong the effective batch."""

    series: str
    batch: int
    points: tuple[ScalingPoint, ...]
    base: float | None
    """throughput on one device; None: there is no such run, so there is no speed-up, no efficiency and no ideal line"""


@dataclass(frozen=True)
class Scaling:
    view: View
    lines: tuple[ScalingLine, ...]
    warnings: tuple[ChartWarning, ...] = ()
    contended: int = 0


@dataclass
class Line:
    """Runs that differ only in how many devices they used, by their number."""

    values: dict[str, str]
    named: str
    points: dict[int, tuple[float, float | None, float | None, int]] = field(default_factory=dict)
    endings: dict[int, dict[str, int]] = field(default_factory=dict)
    shown: set[int] = field(default_factory=set)

    def add(
        self,
        devices: int,
        status: str,
        n: int,
        shown: bool,
        value: float | None,
        low: float | None,
        high: float | None,
        counted: int,
    ) -> None:
        endings = self.endings.setdefault(devices, {})
        endings[status] = endings.get(status, 0) + n
        if shown:
            self.shown.add(devices)
        if status == Status.OK and value is not None and (devices not in self.points or value > self.points[devices][0]):
            self.points[devices] = (value, low, high, int(counted))


def scaling(snapshot: Snapshot, view: View) -> Scaling:
    """One line for each configuration, named by the group and by whatever else distinguishes lines."""
    lines: list[Line] = []
    contended = 0
    named = [(s.name, intersection(view.filters, s.filters)) for s in view.series] or [("", view.filters)]
    for name, filters in named:
        more, disturbed = _lines(snapshot, view, name, filters)
        lines += more
        contended += disturbed
    lines = [line for line in lines if line.shown - {1}]  # one device alone shows no scaling
    differing = [d for d in _columns(view) if d != "backend" and len({line.values[d] for line in lines}) > 1]
    shown = [d for d in view.group if view.resolved(d) in _columns(view)]
    shown += [d for d in differing if d not in {view.resolved(s) for s in shown} and d != view.resolved("batch")]
    batches = view.resolved("batch") in differing
    order = {
        d: in_order(dimension(d), {line.values[view.resolved(d)] for line in lines}) for d in [*shown, view.resolved("batch")]
    }
    lines.sort(key=lambda line: [order[d].index(line.values[view.resolved(d)]) for d in order])
    kept = lines[:MOST_LINES]
    named_lines = [_scaling_line(view, line, name) for line, name in zip(kept, _names(view, kept, shown, batches), strict=True)]
    return Scaling(view, tuple(named_lines), tuple(_warnings(named_lines, len(lines), contended)), contended)


def _columns(view: View) -> list[str]:
    return [*measure_sql.MATCHING, view.resolved("batch")]


def _lines(snapshot: Snapshot, view: View, name: str, filters: Filters) -> tuple[list[Line], int]:
    """Filters on what grows with the number of devices hide points, never the run on one device that they are compared with."""
    select = Select(view)
    speed = measure_sql.stored_measure("throughput", "max" if view.agg == "best" else view.agg)
    columns = _columns(view)
    texts = ", ".join(f"{select.text(c)} AS c{i}" for i, c in enumerate(columns))
    keys = ", ".join(f"c{i}" for i in range(len(columns)))
    growing = select.where(tuple(f for f in filters if f not in measure_sql.baseline_filters(view, filters)))
    rows = f"""SELECT {texts}, {growing} AS shown, replicas, status, contended, n,
        {speed.value} AS v, {speed.low} AS lo, {speed.high} AS hi, {speed.count} AS c
        FROM {select.source(measure_sql.baseline_filters(view, filters))} WHERE replicas = 1 OR (replicas > 1 AND {growing})"""
    sums = f"""SELECT {keys}, shown, replicas, status, contended, max(v), arg_max(lo, v), arg_max(hi, v), sum(c), sum(n)
        FROM rows GROUP BY ALL"""
    lines: dict[tuple[str, ...], Line] = {}
    contended = 0
    for row in snapshot.ask(f"WITH rows AS ({rows}) {sums}", select.parameters):
        key, (shown, devices, status, disturbed, *measured, n) = row[: len(columns)], row[len(columns) :]
        if disturbed and not view.contended:
            contended += int(n) if shown else 0
            continue
        line = lines.setdefault(key, Line(dict(zip(columns, key, strict=True)), name))
        line.add(devices, status, int(n), shown, *measured)
    return list(lines.values()), contended


def _names(view: View, lines: list[Line], shown: list[str], batches: bool) -> list[str]:
    """Unknown values are left out, unless two lines would then have one name."""

    def name(line: Line, unknown: str) -> str:
        values = [line.values[view.resolved(d)] or unknown for d in shown]
        batch = line.values[view.resolved("batch")] or unknown
        return ", ".join(filter(None, [line.named, *values, f"batch {batch}" if batches and batch else ""])) or UNKNOWN * bool(
            shown
        )

    short = [name(line, "") for line in lines]
    return short if len(set(short)) == len(short) else [name(line, UNKNOWN) for line in lines]


def _scaling_line(view: View, line: Line, name: str) -> ScalingLine:
    batch = line.values[view.resolved("batch")]
    base = line.points.get(1)
    points = [_point(line, devices, base) for devices in sorted(line.shown)]
    return ScalingLine(name, int(batch or 0), tuple(points), base[0] if base else None)


def _point(line: Line, devices: int, base: Any) -> ScalingPoint:
    measured = line.points.get(devices)
    relative: dict[str, Any] = dict.fromkeys(
        ("speedup", "speedup_low", "speedup_high", "efficiency", "efficiency_low", "efficiency_high")
    )
    if measured is None:
        status = main_status(line.endings[devices], 0)
        return ScalingPoint(devices, None, None, None, base[0] * devices if base else None, **relative, runs=0, status=status)
    value, low, high, runs = measured
    if base:
        up = ratio(Point("", value=value, low=low, high=high), Point("", value=base[0], low=base[1], high=base[2]))
        up = up if devices > 1 else (1.0, None, None)
        share = tuple(None if u is None else u / devices for u in up)
        relative = dict(zip(relative, (*up, *share), strict=True))
    return ScalingPoint(devices, value, low, high, base[0] * devices if base else None, **relative, runs=runs)


def _warnings(lines: list[ScalingLine], total: int, contended: int) -> list[ChartWarning]:
    alone = sum(line.base is None for line in lines)
    warnings = [
        alone and warning(WarningCode.LINES_WITHOUT_SINGLE_DEVICE, n=alone),
        total > len(lines) and warning(WarningCode.LINES_CUT, n=total - len(lines), total=total),
        contended and warning(WarningCode.CONTENDED, n=contended),
    ]
    return [w for w in warnings if w]


class ScalingKind(Kind[Scaling]):
    texts = {
        "title": Text("{scaling} scaling"),
        "weak": Text("each device keeps its batch"),
        "strong": Text("all devices share one batch"),
        "ideal": Text("dashed: perfect scaling"),
        "intervals": Text("95% intervals"),
    }
    parameters = ("group", "agg", "scaling", "log", "contended", "series")
    fixed = {"x": "replicas"}
    columns = ("series", "batch", "devices", "throughput", "low", "high", "ideal", "speedup", "efficiency", "runs", "status")
    page_draws = True

    def answer(self, guide: Guide, view: View) -> Scaling:
        return scaling(guide.snapshot, view)

    def title(self, answer: Scaling) -> str:
        return self.texts["title"](scaling=answer.view.scaling.capitalize())

    def subtitle(self, answer: Scaling) -> str:
        points = [point for line in answer.lines for point in line.points]
        parts = [answer.view.scaling]
        parts += ["ideal"] if any(p.ideal is not None for p in points) else []
        parts += ["intervals"] if any(p.low is not None for p in points) else []
        return " · ".join(self.texts[part]() for part in parts)

    def items(self, answer: Scaling) -> Sequence[ScalingLine]:
        return answer.lines

    def rows(self, answer: Scaling) -> list[dict[str, Any]]:
        return [{"series": line.series, "batch": line.batch, **plain(point)} for line in answer.lines for point in line.points]

    def template(self) -> Spec:
        """Throughput beside the ideal, speed-up, efficiency. What has no run on one device has no ideal and neither of these."""
        dashed = {"type": "line", "strokeDash": [5, 4], "opacity": 0.6, "strokeWidth": 1.5}
        ideal = {"transform": [{"filter": "isValid(datum.ideal)"}], "mark": dashed,
                 "encoding": {"x": _devices(), "y": {"field": "ideal", "type": "quantitative"},
                              "color": _line_colour()}}  # fmt: skip
        diagonal = {"mark": {**dashed, "color": slot("quiet")},
                    "encoding": {"x": _devices(), "y": {"field": "devices", "type": "quantitative"}}}  # fmt: skip
        panels = [
            _panel("Throughput", "samples/s", "throughput", [when("ideal", ideal), when("failed", _failed())], "log_y"),
            when("based", _panel("Speed-up", "over one device", "speedup", [diagonal])),
            when("based", _panel("Efficiency", "share of perfect scaling", "efficiency", [reference("y", 1)])),
        ]
        return {**frame(), "data": {"values": slot("rows")}, "columns": slot("columns"), "spacing": 32, "concat": panels}

    def values(self, answer: Scaling) -> dict[str, Any]:
        view, names = answer.view, _series_names(answer)
        rows = [
            {"devices": p.devices, "series": name, "throughput": p.throughput, "throughput_low": p.low, "throughput_high": p.high,
             "ideal": p.ideal, **{f"{s}{end}": getattr(p, f"{s}{end}") for s in SCALES[1:] for end in ("", "_low", "_high")},
             "runs": p.runs, "status": status_label(p.status)}
            for name, line in zip(names, answer.lines, strict=True) for p in line.points
        ]  # fmt: skip
        return {
            "rows": rows, "series": names, "legend": len(names) > 1, "devices": sorted({row["devices"] for row in rows}),
            "heading": self.title(answer), "subtitle": [self.subtitle(answer)],
            "log_x": "x" in view.log, "log_y": "y" in view.log,
            "based": any(row["speedup"] is not None for row in rows), "ideal": any(row["ideal"] is not None for row in rows),
            "failed": any(row["throughput"] is None for row in rows),
            **{f"{scale}_ends": any(row[f"{scale}_low"] is not None for row in rows) for scale in SCALES},
        }  # fmt: skip

    def size(self, answer: Scaling) -> dict[str, Any]:
        return {"width": 320, "height": 280, "columns": 3, "entries": legend_columns(1000, _series_names(answer))}


def _series_names(answer: Scaling) -> list[str]:
    return [line.series or f"batch {line.batch}" for line in answer.lines]


def _panel(title: str, axis: str, field: str, beside: list[Spec], log: str = "") -> Spec:
    x, colour = _devices(), _line_colour()
    form = ".0%" if field == "efficiency" else ",~r"
    linear = {"zero": True, "nice": 6}
    scale = when(log, {"type": "log", "nice": False, "padding": 14}, linear) if log else linear
    y = {"field": field, "type": "quantitative", "title": axis, "scale": scale, "axis": {"format": form, "tickCount": 6}}
    shape = {**colour, "scale": {"domain": slot("series"), "range": list(SHAPES)}}
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
    return {"title": heading, "width": slot("width"), "height": slot("height"), "layer": layers}


def _devices() -> Spec:
    scale = when("log_x", {"type": "log", "base": 2, "nice": False, "padding": 14}, {"zero": False, "nice": False, "padding": 14})
    axis = {"values": slot("devices"), "format": "d", "labelOverlap": True}
    return {"field": "devices", "type": "quantitative", "title": "devices", "axis": axis, "scale": scale}


def _line_colour() -> Spec:
    return series_colour(slot("series"), None)


def _failed() -> Spec:
    tooltip = [{"field": name, "type": "nominal"} for name in ("series", "devices", "status")]
    return {"transform": [{"filter": "!isValid(datum.throughput)"}], "mark": {**CROSS, "color": slot("bad")},
            "encoding": {"x": _devices(), "y": {"value": "height"}, "tooltip": tooltip}}  # fmt: skip


KIND = ScalingKind()

"""The same thing on more and more devices: throughput, speed-up, efficiency, and the ideal line where there is one to draw."""

from __future__ import annotations

import re
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
from steptime.guide.query.filter_sql import Select
from steptime.guide.query.points import UNKNOWN, main_status, named_series, ratio
from steptime.guide.query.results import Point, plain
from steptime.guide.query.warning_codes import MIXED_VERBS, ChartWarning, WarningCode, warning
from steptime.guide.query.warnings import ABOVE_IDEAL, listed, plural
from steptime.guide.view.dimensions import LABEL_NAME, LABEL_PREFIX, dimension, in_order
from steptime.guide.view.notation import Filters
from steptime.guide.view.texts import Text
from steptime.guide.view.view import View
from steptime.store import rollup
from steptime.store.snapshot import Snapshot

SCALED = ("replicas", "nodes", "devices_per_node", "effective_batch", "replica_batch", "batch")
"""what grows along the axis, so that lines are not grouped by it"""
MIXED = ("nodes", "threads")
"""in what runs of one line on one number of devices may differ: 1 node of 8 or 2 of 4, and threads beside GPUs"""
LABEL = re.compile(re.escape(LABEL_PREFIX) + LABEL_NAME.pattern)
"""that an address can name"""
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


Measured = tuple[float, float | None, float | None, int]
"""throughput, the ends of its interval, and how many runs it comes from"""


@dataclass(frozen=True)
class LineKey:
    """All that runs of one line have in common."""

    matching: tuple[str, ...]
    labels: str
    interconnect: str
    groups: tuple[str, ...]
    """values of the group's dimensions that are none of these"""


@dataclass
class Line:
    """Runs that differ only in how many devices they used, by their number."""

    key: LineKey
    values: dict[str, str]
    named: str
    points: dict[int, Measured] = field(default_factory=dict)
    endings: dict[int, dict[str, int]] = field(default_factory=dict)
    shown: set[int] = field(default_factory=set)
    mixes: dict[int, dict[str, set[Any]]] = field(default_factory=dict)

    def add(self, devices: int, status: str, n: int, shown: bool, measured: Measured | None, mixed: dict[str, set[Any]]) -> None:
        endings = self.endings.setdefault(devices, {})
        endings[status] = endings.get(status, 0) + n
        if shown:
            self.shown.add(devices)
        if status != Status.OK or measured is None:
            return
        if devices not in self.points or measured[0] > self.points[devices][0]:
            self.points[devices] = measured
        for name, values in mixed.items():
            self.mixes.setdefault(devices, {}).setdefault(name, set()).update(values)

    def start_from(self, other: Line) -> None:
        """Takes the run on one device of another line."""
        self.points[1], self.endings[1] = other.points[1], other.endings[1]
        self.shown |= {1} & other.shown


def scaling(snapshot: Snapshot, view: View) -> Scaling:
    """One line for each configuration, named by the group and by whatever else distinguishes lines."""
    lines: list[Line] = []
    contended = unknown = 0
    for name, filters in named_series(view):
        gathered = _gathered(snapshot, view, name, filters)
        lines += _based(view, gathered.lines)
        contended += gathered.contended
        unknown += gathered.unknown
    lines = [line for line in lines if line.shown - {1}]  # one device alone shows no scaling
    batch = view.resolved("batch")
    labels = sorted({name for line in lines for name in line.values if LABEL.fullmatch(name)})
    told = [*(c for c in _columns(view) if c != "backend"), "interconnect", *labels]
    differing = [d for d in told if len({line.values.get(d, "") for line in lines}) > 1]
    shown = [d for d in dict.fromkeys([*map(view.resolved, view.group), *differing]) if d not in (batch, "replicas")]
    order = {d: in_order(dimension(d), {line.values.get(d, "") for line in lines}) for d in [*shown, batch]}
    lines.sort(key=lambda line: [order[d].index(line.values.get(d, "")) for d in order])
    kept = lines[:MOST_LINES]
    names = _names(view, kept, shown, batch in differing)
    named_lines = [_scaling_line(view, line, name) for line, name in zip(kept, names, strict=True)]
    warnings = _warnings(named_lines, kept, len(lines), contended, unknown)
    return Scaling(view, tuple(named_lines), tuple(warnings), contended)


def _columns(view: View) -> list[str]:
    return [*measure_sql.MATCHING, view.resolved("batch")]


def _groups(view: View) -> list[str]:
    """Dimensions of the group that do not tell lines apart anyway."""
    names = map(view.resolved, view.group)
    return [d for d in names if d not in (*_columns(view), "interconnect", "replicas") and not d.startswith(LABEL_PREFIX)]


@dataclass
class GatheredRuns:
    lines: list[Line]
    contended: int = 0
    unknown: int = 0
    """runs whose batch is unknown"""


def _gathered(snapshot: Snapshot, view: View, name: str, filters: Filters) -> GatheredRuns:
    """Filters on what grows with the number of devices hide points, never the run on one device that they are compared with."""
    columns, groups = _columns(view), _groups(view)
    keys = len(columns) + 2 + len(groups)
    lines: dict[LineKey, Line] = {}
    gathered = GatheredRuns([])
    for row in snapshot.ask(*_lines_sql(view, filters, columns, groups)):
        (*matching, labels, interconnect), own = row[: len(columns) + 2], row[len(columns) + 2 : keys]
        shown, devices, status, disturbed, n, value, ends, counted, *mixed = row[keys:]
        if disturbed and not view.contended:
            gathered.contended += int(n) if shown else 0
        elif not matching[-1]:
            gathered.unknown += int(n) if shown and devices > 1 else 0
        else:
            key = LineKey(tuple(matching), labels, interconnect, tuple(own))
            if key not in lines:
                lines[key] = Line(key, _line_values(key, columns, groups), name)
            measured = None if value is None else (value, ends["low"], ends["high"], int(counted))
            lines[key].add(devices, status, int(n), shown, measured, {m: set(v or ()) for m, v in zip(MIXED, mixed, strict=True)})
    gathered.lines = list(lines.values())
    return gathered


def _lines_sql(view: View, filters: Filters, columns: list[str], groups: list[str]) -> tuple[str, dict[str, Any]]:
    """One row for each line, number of devices and way of ending."""
    select = Select(view)
    speed = measure_sql.stored_measure("throughput", "max" if view.agg == "best" else view.agg)
    texts = [*map(measure_sql.matching_text, columns), measure_sql.LABELS, "interconnect", *map(select.text, groups)]
    keys = ", ".join(f"c{i}" for i in range(len(texts)))
    named = ", ".join(f"{text} AS c{i}" for i, text in enumerate(texts))
    steady = measure_sql.baseline_filters(view, filters)
    growing = select.where(tuple(f for f in filters if f not in steady))
    rows = f"""SELECT {named}, {growing} AS shown, replicas, status, contended, n, {", ".join(f"{m} AS m_{m}" for m in MIXED)},
        {speed.value} AS v, {speed.low} AS lo, {speed.high} AS hi, {speed.count} AS c
        FROM {select.source(steady, groups)} WHERE replicas = 1 OR (replicas > 1 AND {growing})"""
    mixed = ", ".join(f"list(DISTINCT m_{m}) FILTER (v IS NOT NULL AND m_{m} IS NOT NULL)" for m in MIXED)
    ends = rollup.ends_at("v", "max", "lo", "hi")
    sums = f"SELECT {keys}, shown, replicas, status, contended, sum(n), max(v), {ends}, sum(c), {mixed} FROM rows GROUP BY ALL"
    return f"WITH rows AS ({rows}) {sums}", select.parameters


def _line_values(key: LineKey, columns: list[str], groups: list[str]) -> dict[str, str]:
    labels = (label.partition("=") for label in key.labels.split("\x1f") if label)
    return {
        **dict(zip(columns, key.matching, strict=True)),
        "interconnect": key.interconnect,
        **{LABEL_PREFIX + name: value for name, _, value in labels},
        **dict(zip(groups, key.groups, strict=True)),
    }


def _based(view: View, lines: list[Line]) -> list[Line]:
    """Lines without a run on one device get that of the same thing without an interconnect, or in another of the groups."""
    steady = [i for i, d in enumerate(_groups(view)) if d not in measure_sql.GROWING]

    def alike(line: Line, interconnect: str) -> tuple[Any, ...]:
        return (line.key.matching, line.key.labels, interconnect, *(line.key.groups[i] for i in steady))

    bases: dict[tuple[Any, ...], Line] = {}
    for line in lines:
        at = alike(line, line.key.interconnect)
        if 1 in line.points and (at not in bases or line.points[1][0] > bases[at].points[1][0]):
            bases[at] = line
    for line in lines:
        base = bases.get(alike(line, line.key.interconnect)) or bases.get(alike(line, ""))
        if 1 not in line.points and base:
            line.start_from(base)
    return lines


def _names(view: View, lines: list[Line], shown: list[str], batches: bool) -> list[str]:
    """Unknown values are left out, unless two lines would then have one name."""

    def name(line: Line, unknown: str) -> str:
        values = [line.values.get(d) or unknown for d in shown]
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


def _warnings(lines: list[ScalingLine], gathered: list[Line], total: int, contended: int, unknown: int) -> list[ChartWarning]:
    alone = sum(line.base is None for line in lines)
    above = sum((point.efficiency or 0) > ABOVE_IDEAL for line in lines for point in line.points)
    points = [line.mixes.get(devices, {}) for line in gathered for devices in line.shown]
    mixed = {name: max((len(point.get(name, ())) for point in points), default=0) for name in MIXED}
    values = [f"{count} {plural(name)}" for name, count in mixed.items() if count > 1]
    warnings = [
        values and warning(WarningCode.MIXED, verb=MIXED_VERBS[""](agg="best"), values=listed(values)),
        alone and warning(WarningCode.LINES_WITHOUT_SINGLE_DEVICE, n=alone),
        above and warning(WarningCode.ABOVE_IDEAL, n=above),
        unknown and warning(WarningCode.UNKNOWN_BATCH, n=unknown),
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

"""What may be asked of results: dimensions (what was varied) and measures (what was measured).

The columns of a record (store/columns.py), with these additions: `batch` is the replica batch under weak scaling and the
effective batch under strong scaling; `data_type` is data and where it lies; `date` is the day a run started;
`label.NAME` is the label NAME. `dimension` and `measure` look a name up and are the only gate through which a name
from outside reaches a query.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from steptime.core.errors import UnknownName, UsageError
from steptime.store import columns

LABEL_PREFIX = "label."
LABEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}")
PRICE_LABEL = "price_per_hour"
"""what an hour of everything a run used costs; makes the measure cost_per_million"""
NOT_RUN = "not run"


@dataclass(frozen=True)
class Dimension:
    name: str
    label: str
    kind: str = "text"
    """text | number | date"""
    order: tuple[str, ...] = ()
    """values in the order in which people expect them; others follow in natural order"""
    configures: bool = True
    """whether two runs that differ in it are different configurations, rather than the same one run twice"""


@dataclass(frozen=True)
class Measure:
    name: str
    label: str
    unit: str
    better: str
    """higher | lower"""
    form: str = "number"
    """number | percent | bytes | ratio: how to write it"""
    interval: bool = False
    """whether single runs have a confidence interval of it"""


OFFERED = (
    "model", "phase", "framework", "framework_version", "backend", "software", "runtime", "precision", "device", "device_type",
    "replicas", "devices_per_node", "nodes", "interconnect", "server", "batch", "replica_batch", "effective_batch", "threads",
    "optimizer", "data", "data_store", "data_type", "origin", "status", "verdict", "date", "sweep",
    "throughput", "batch_time_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms",
)  # fmt: skip
"""the order in which dimensions and measures are offered; those that are not here follow, as the table of columns has them"""


def _offered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: OFFERED.index(name) if name in OFFERED else len(OFFERED))


def _dimensions() -> dict[str, Dimension]:
    stored = (Dimension(c.name, c.label, c.kind, c.order, c.configures) for c in columns.TABLE if c.dimension)
    derived = (
        Dimension("batch", "batch size", "number"),
        Dimension("data_type", "data type"),
        Dimension("date", "date", "date", configures=False),
    )
    known = {d.name: d for d in (*stored, *derived)}
    return {name: known[name] for name in _offered(known)}


DIMENSIONS = _dimensions()
STORED_MEASURES = tuple(_offered(columns.MEASURES))
"""columns of the index; the others are worked out from these"""
_STORED = (columns.COLUMNS[name] for name in STORED_MEASURES)
MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        *(Measure(c.name, c.label, c.unit, c.better, c.form, c.interval) for c in _STORED),
        Measure("speedup", "speed-up over one device", "×", "higher", "ratio", interval=True),
        Measure("efficiency", "scaling efficiency", "", "higher", "percent", interval=True),
        Measure("cost_per_million", "cost per million samples", "price", "lower", interval=True),
    )
}


def dimension(name: str) -> Dimension:
    """The dimension of that name; `label.NAME` for any label."""
    if name in DIMENSIONS:
        return DIMENSIONS[name]
    if name.startswith(LABEL_PREFIX):
        label = name.removeprefix(LABEL_PREFIX)
        if not LABEL_NAME.fullmatch(label):
            raise UsageError(f"'{name}' is no label: letters, digits and . _ : / - only, at most 64 of them")
        return Dimension(name, label)
    raise UnknownName("dimension", name, [*DIMENSIONS, "label.NAME"])


def measure(name: str) -> Measure:
    if name not in MEASURES:
        raise UnknownName("measure", name, MEASURES)
    return MEASURES[name]


def in_order(of: Dimension, values: Iterable[str]) -> list[str]:
    """Declared order first; then, if all are numbers, by number; else as people sort names: resnet50 before ResNet101."""
    present = list(dict.fromkeys(values))
    declared = [v for v in of.order if v in present]
    rest = [v for v in present if v not in of.order]
    if all(_number(v) is not None for v in rest):
        return declared + sorted(rest, key=lambda v: (_number(v), v))
    return declared + sorted(rest, key=lambda v: (_natural(v), v))


def _natural(text: str) -> list[str | int]:
    """Text and runs of digits in turns, so that lists compare part by part."""
    return [int(part) if place % 2 else part for place, part in enumerate(re.split(r"([0-9]+)", text.lower()))]


def _number(text: str) -> float | None:
    """Plain decimal numbers only, so that every language reads the same."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        return None
    value = float(text)
    return value if math.isfinite(value) else None

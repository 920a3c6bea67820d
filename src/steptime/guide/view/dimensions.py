"""What may be asked of results: dimensions (what was varied) and measures (what was found).

Names are those of the index columns, with these additions: `batch` is the replica batch under weak scaling and the
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
from steptime.core.schema import FAILURES, OK, PHASES, PRECISIONS, VERDICTS

LABEL_PREFIX = "label."
LABEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}")
PRICE_LABEL = "price_per_hour"
"""what an hour of everything a run used costs; makes the measure cost_per_million"""
NOT_RUN = "not run"
STATUSES = (OK, *FAILURES)


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

    @property
    def is_label(self) -> bool:
        return self.name.startswith(LABEL_PREFIX)


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


DIMENSIONS: dict[str, Dimension] = {
    d.name: d
    for d in (
        Dimension("model", "model"),
        Dimension("phase", "phase", order=PHASES),
        Dimension("framework", "framework"),
        Dimension("framework_version", "framework version"),
        Dimension("backend", "backend"),
        Dimension("software", "software"),
        Dimension("runtime", "runtime"),
        Dimension("precision", "precision", order=PRECISIONS),
        Dimension("device", "device"),
        Dimension("device_type", "device type", order=("cpu", "gpu")),
        Dimension("replicas", "number of devices", "number"),
        Dimension("devices_per_node", "devices per node", "number"),
        Dimension("nodes", "nodes", "number"),
        Dimension("interconnect", "interconnect"),
        Dimension("server", "server"),
        Dimension("batch", "batch size", "number"),
        Dimension("replica_batch", "replica batch size", "number"),
        Dimension("effective_batch", "effective batch size", "number"),
        Dimension("threads", "threads", "number"),
        Dimension("optimizer", "optimizer"),
        Dimension("data", "data", order=("synthetic", "real")),
        Dimension("data_store", "data store"),
        Dimension("data_type", "data type"),
        Dimension("origin", "origin"),
        Dimension("status", "status", order=STATUSES, configures=False),
        Dimension("verdict", "verdict", order=VERDICTS, configures=False),
        Dimension("date", "date", "date", configures=False),
        Dimension("sweep", "sweep", configures=False),
    )
}
"""in the order in which they are offered"""

MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        Measure("throughput", "throughput", "samples/s", "higher", interval=True),
        Measure("batch_time_ms", "batch time", "ms", "lower", interval=True),
        Measure("p50_ms", "median batch time", "ms", "lower"),
        Measure("p90_ms", "90th percentile of batch time", "ms", "lower"),
        Measure("p95_ms", "95th percentile of batch time", "ms", "lower"),
        Measure("p99_ms", "99th percentile of batch time", "ms", "lower"),
        Measure("uncertainty", "uncertainty of throughput", "samples/s", "lower"),
        Measure("jitter", "jitter of throughput", "samples/s", "lower"),
        Measure("limit_share", "share of the machine's limit", "", "higher", "percent"),
        Measure("peak_bytes", "peak memory", "bytes", "lower", "bytes"),
        Measure("speedup", "speed-up over one device", "×", "higher", "ratio", interval=True),
        Measure("efficiency", "scaling efficiency", "", "higher", "percent", interval=True),
        Measure("cost_per_million", "cost per million samples", "price", "lower", interval=True),
    )
}

STORED_MEASURES = tuple(m for m in MEASURES if m not in ("speedup", "efficiency", "cost_per_million"))
"""columns of the index; the others are worked out from these"""


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

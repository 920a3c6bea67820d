"""What a measure of one configuration is, as SQL on rows of the rollup: value, interval, count and spread.

Runs of one configuration are reduced first, then configurations; by the same aggregation. So a configuration that was
run a hundred times weighs as much as one that was run once.
"""

from __future__ import annotations

from dataclasses import dataclass

from steptime.guide.query.filter_sql import Select
from steptime.guide.view.dimensions import LABEL_PREFIX, PRICE_LABEL, STORED_MEASURES, measure
from steptime.guide.view.notation import Filters
from steptime.guide.view.view import View

MATCHING = (
    "model", "phase", "framework", "framework_version", "backend", "runtime", "precision", "device", "threads", "optimizer",
    "data", "data_store", "origin",
)  # fmt: skip
"""what a run on one device must share with a run on many, besides the batch, to be what it is measured against"""
GROWING = ("replicas", "devices_per_node", "nodes", "interconnect", "server")
"""what may differ between them, so that filters on it do not hide the run on one device"""


@dataclass(frozen=True)
class Figure:
    value: str
    low: str
    high: str
    count: str
    spread: str


def picked(view: View) -> str:
    """max | min | mean | median: what the aggregation means for the measure."""
    if view.agg == "best":
        return "max" if measure(view.y).better == "higher" else "min"
    return view.agg


def stored(name: str, pick: str) -> Figure:
    """Of a column of the index. Single runs have an interval of throughput, and by the batch one of batch time."""
    value, count = f"{name}_{pick}", f"{name}_n"
    low, high = "NULL::DOUBLE", "NULL::DOUBLE"
    if name in ("throughput", "batch_time_ms"):
        fast = (pick == "max") == (name == "throughput")
        end = "worst" if pick in ("min", "max") and not fast else "best"
        low, high = f"{end}_low", f"{end}_high"
        if name == "batch_time_ms":
            low, high = f"effective_batch * 1e3 / {high}", f"effective_batch * 1e3 / {low}"
        if pick in ("mean", "median"):
            low, high = (f"CASE WHEN {count} = 1 THEN {end_} END" for end_ in (low, high))
    return Figure(value, low, high, count, f"{name}_sd")


def cost(select: Select, pick: str) -> Figure:
    """Price of a million samples: the dearest is the slowest."""
    path = select.bind(f'$."{PRICE_LABEL}"')
    price = f"(try_cast(json_extract_string(labels, {path}) AS DOUBLE) * 1e6 / 3600)"
    speed = stored("throughput", {"min": "max", "max": "min"}.get(pick, pick))
    return Figure(f"{price} / {speed.value}", f"{price} / {speed.high}", f"{price} / {speed.low}", speed.count, "NULL::DOUBLE")


def scaled(view: View, pick: str) -> Figure:
    """Speed-up over one device, or its share of the ideal; of rows that `with_base` gave a base."""
    speed = stored("throughput", pick)
    ratio = f"{speed.value} / base" + ("" if view.y == "speedup" else " / replicas")
    down = f"exp(-sqrt(ln({speed.value} / {speed.low}) ** 2 + ln(base_high / base) ** 2))"
    up = f"exp(sqrt(ln({speed.high} / {speed.value}) ** 2 + ln(base / base_low) ** 2))"
    many = "CASE WHEN replicas > 1 THEN"
    return Figure(ratio, f"{many} {ratio} * {down} END", f"{many} {ratio} * {up} END", speed.count, "NULL::DOUBLE")


def figure(select: Select) -> Figure:
    view = select.view
    if view.y in STORED_MEASURES:
        return stored(view.y, picked(view))
    return cost(select, picked(view)) if view.y == "cost_per_million" else scaled(view, picked(view))


def batch_column(view: View) -> str:
    return view.resolved("batch")


def match(view: View) -> str:
    """The same for all runs that differ only in how many devices they use."""
    columns = [*MATCHING, batch_column(view)]
    return f"concat_ws(chr(31), {', '.join(f'coalesce({c}::VARCHAR, {chr(39) * 2})' for c in columns)})"


def steady_filters(view: View, filters: Filters) -> Filters:
    """Filters but for those on what grows with the number of devices, and on labels, which may tell of it (a price does)."""
    other = "replica_batch" if view.scaling == "strong" else "effective_batch"
    growing = (*GROWING, other)
    return tuple((name, values) for name, values in filters if name not in growing and not name.startswith(LABEL_PREFIX))


def with_base(select: Select, source: str) -> str:
    """Rows, each with the run on one device it is measured against: of the same server, else of another that has the device."""
    view = select.view
    speed = stored("throughput", picked(view))
    clean = "" if view.contended else "AND NOT contended"
    steady = select.source(steady_filters(view, view.filters))
    bases = f"""SELECT {match(view)} AS k, server AS s, {speed.value} AS v, {speed.low} AS lo, {speed.high} AS hi
        FROM {steady} WHERE replicas = 1 AND status = 'ok' AND {speed.value} > 0 {clean}"""
    best = "max(v) AS base, arg_max(lo, v) AS base_low, arg_max(hi, v) AS base_high"
    chosen = ", ".join(f"CASE WHEN b.base IS NULL THEN a.{c} ELSE b.{c} END AS {c}" for c in ("base", "base_low", "base_high"))
    return f"""(
        SELECT r.*, {chosen}, b.base IS NULL AND a.base IS NOT NULL AS elsewhere
        FROM (SELECT *, {match(view)} AS k FROM {source}) r
        LEFT JOIN (SELECT k, s, {best} FROM ({bases}) GROUP BY k, s) b ON b.k = r.k AND b.s = r.server
        LEFT JOIN (SELECT k, {best} FROM ({bases}) GROUP BY k) a ON a.k = r.k)"""

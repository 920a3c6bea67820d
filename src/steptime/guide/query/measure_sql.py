"""A measure of one configuration as SQL on rows of the rollup: value, interval, count and spread.

Runs of one configuration are aggregated first, then configurations, in the same way. So a configuration that was run a
hundred times weighs as much as one that was run once.
"""

from __future__ import annotations

from dataclasses import dataclass

from steptime.guide.query.filter_sql import Select
from steptime.guide.view.dimensions import LABEL_PREFIX, PRICE_LABEL, STORED_MEASURES, measure
from steptime.guide.view.notation import Filters
from steptime.guide.view.view import View
from steptime.store import rollup
from steptime.store.columns import CONFIGURING

SCALED = ("speedup", "efficiency")
"""measures that are relative to a run on one device"""
GROWING = ("replicas", "devices_per_node", "nodes", "interconnect", "server")
"""what may differ between runs on one and on many devices, so that filters on it do not hide the run on one device"""
FOLLOWING = (
    "software", "device_type", "vendor", "architecture", "device_memory_gb", "device_year", "replica_batch", "effective_batch",
)  # fmt: skip
"""what others tell: framework and version, the device, and the batch, which is compared by itself"""
MATCHING = tuple(name for name in CONFIGURING if name not in (*GROWING, *FOLLOWING))
"""what a run on one device must share with a run on many, besides batch and labels, to be what it is measured against"""
LABELS = f"""CASE WHEN labels = '{{}}' THEN '' ELSE array_to_string(list_sort(list_transform(
    list_filter(map_entries(labels::JSON::MAP(VARCHAR, VARCHAR)), lambda label: label.key <> '{PRICE_LABEL}'),
    lambda label: concat(label.key, '=', label.value))), chr(31)) END"""
"""all labels but the price, which grows with the number of devices"""


@dataclass(frozen=True)
class MeasureSql:
    value: str
    low: str
    high: str
    count: str
    spread: str


def reduction(view: View) -> str:
    """max | min | mean | median: `best` depends on the measure."""
    if view.agg == "best":
        return "max" if measure(view.y).better == "higher" else "min"
    return view.agg


def stored_measure(name: str, pick: str) -> MeasureSql:
    """A column of the index. Single runs have an interval of throughput and, divided by the batch, of batch time."""
    value, count = f"{name}_{pick}", f"{name}_n"
    low, high = "NULL::DOUBLE", "NULL::DOUBLE"
    if name in rollup.WITH_INTERVAL:
        ends = f"{name}_{pick if pick in ('min', 'max') else 'max'}_ends"
        low, high = f"{ends}.low", f"{ends}.high"
        if name == "batch_time_ms":
            low, high = f"effective_batch * 1e3 / {high}", f"effective_batch * 1e3 / {low}"
        if pick in ("mean", "median"):
            low, high = (f"CASE WHEN {count} = 1 THEN {bound} END" for bound in (low, high))
    return MeasureSql(value, low, high, count, f"{name}_sd")


def cost_measure(select: Select, pick: str) -> MeasureSql:
    """The price of a million samples: the slowest run costs most."""
    path = select.bind(f'$."{PRICE_LABEL}"')
    price = f"(try_cast(json_extract_string(labels, {path}) AS DOUBLE) * 1e6 / 3600)"
    speed = stored_measure("throughput", {"min": "max", "max": "min"}.get(pick, pick))
    value, low, high = (f"{price} / {end}" for end in (speed.value, speed.high, speed.low))
    return MeasureSql(value, low, high, speed.count, "NULL::DOUBLE")


def scaling_measure(view: View, pick: str) -> MeasureSql:
    """Speed-up over one device, or its share of the ideal, of rows that `with_baseline` gave a base."""
    speed = stored_measure("throughput", pick)
    ratio = f"{speed.value} / base" + ("" if view.y == "speedup" else " / replicas")
    down = f"exp(-sqrt(ln({speed.value} / {speed.low}) ** 2 + ln(base_high / base) ** 2))"
    up = f"exp(sqrt(ln({speed.high} / {speed.value}) ** 2 + ln(base / base_low) ** 2))"
    many = "CASE WHEN replicas > 1 THEN"
    return MeasureSql(ratio, f"{many} {ratio} * {down} END", f"{many} {ratio} * {up} END", speed.count, "NULL::DOUBLE")


def expressions(select: Select) -> MeasureSql:
    view = select.view
    if view.y in STORED_MEASURES:
        return stored_measure(view.y, reduction(view))
    return cost_measure(select, reduction(view)) if view.y == "cost_per_million" else scaling_measure(view, reduction(view))


def matching_text(name: str) -> str:
    """A column that must agree, as text. Threads are compared where a CPU computes with them, not beside a GPU."""
    text = rollup.text(name)
    return f"CASE WHEN device_type = 'gpu' THEN '' ELSE {text} END" if name == "threads" else text


def match_key(view: View) -> str:
    """The same for all runs that differ only in how many devices they use; none where the batch is unknown."""
    batch = view.resolved("batch")
    columns = [*map(matching_text, MATCHING), LABELS, batch]
    return f"CASE WHEN {batch} IS NOT NULL THEN concat_ws(chr(31), {', '.join(columns)}) END"


def baseline_filters(view: View, filters: Filters) -> Filters:
    """All filters but those on what grows with the number of devices, its price included."""
    other = "replica_batch" if view.scaling == "strong" else "effective_batch"
    growing = (*GROWING, other, LABEL_PREFIX + PRICE_LABEL)
    return tuple((name, values) for name, values in filters if name not in growing)


def with_baseline(select: Select, source: str) -> str:
    """Rows, each with the run on one device it is compared with: of the same interconnect, else one that names none."""
    view = select.view
    speed = stored_measure("throughput", reduction(view))
    clean = "" if view.contended else "AND NOT contended"
    steady = select.source(baseline_filters(view, view.filters))
    bases = f"""SELECT {match_key(view)} AS k, interconnect AS i, {speed.value} AS v, {speed.low} AS lo, {speed.high} AS hi
        FROM {steady} WHERE replicas = 1 AND status = 'ok' AND {speed.value} > 0 {clean}"""
    best = f"max(v) AS base, {rollup.ends_at('v', 'max', 'lo', 'hi')} AS ends"
    chosen = "CASE WHEN b.base IS NULL THEN a.base ELSE b.base END AS base, CASE WHEN b.base IS NULL THEN a.ends ELSE b.ends END"
    return f"""(
        SELECT * EXCLUDE (base_ends), base_ends.low AS base_low, base_ends.high AS base_high FROM (
        SELECT r.*, {chosen} AS base_ends
        FROM (SELECT *, {match_key(view)} AS k FROM {source}) r
        LEFT JOIN (SELECT k, i, {best} FROM ({bases}) GROUP BY k, i) b ON b.k = r.k AND b.i = r.interconnect
        LEFT JOIN (SELECT k, {best} FROM ({bases}) WHERE i = '' GROUP BY k) a ON a.k = r.k))"""

"""One flat row per record: the columns of the Deep Learning Performance Guide. Derived, rebuilt at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from steptime.core.errors import UnknownName
from steptime.core.schema import OK, Case, Phase, Printed, Record
from steptime.store.files import Damaged, Store

COLUMNS = (
    "id", "phase", "model", "framework", "framework_version", "backend", "software", "runtime", "precision", "data",
    "data_store", "server", "device", "device_type", "devices_per_node", "nodes", "interconnect", "replicas",
    "replica_batch", "effective_batch", "threads", "optimizer", "batch_time_ms", "throughput", "uncertainty", "jitter",
    "ci_low", "ci_high", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "limit_share", "peak_bytes", "status", "verdict",
    "origin", "labels", "started", "sweep", "message", "job", "partition", "device_asked", "queue_seconds",
    "staging_seconds",
)  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows of a store. Damaged files are named, not counted."""

    rows: Sequence[Row]
    damaged: Sequence[Damaged]

    def where(self, wanted: Mapping[str, Sequence[str]]) -> list[Row]:
        """Rows whose column is one of the wanted values, for every column asked for."""
        for column in wanted:
            if column not in COLUMNS:
                raise UnknownName("column", column, COLUMNS)
        return [row for row in self.rows if all(str(row[c]) in values for c, values in wanted.items())]


def read_rows(store: Store) -> Rows:
    records, damaged = store.read()
    return Rows([row_of(record) for record in records], damaged)


def row_of(record: Record) -> Row:
    """Flat; what a failed case has no figure for, and what an imported one does not say, is None, never 0."""
    case, software = record.case, record.software
    row: Row = dict.fromkeys(COLUMNS)
    row.update(
        id=record.id,
        phase=case.phase or None,
        model=model_name(case),
        framework=software.framework if software else case.backend,
        framework_version=software.framework_version if software else "",
        backend=case.backend,
        software=f"{software.framework} {software.framework_version}".strip() if software else case.backend,
        runtime=record.source.runtime if record.source else "bare metal",
        precision=case.precision or None,
        data="real" if case.data not in ("synthetic", "") else case.data or None,
        data_store=case.data_store or None,
        server=server_name(record),
        device=device_name(record),
        device_type=DEVICE_TYPES.get(ran_on(record).partition(":")[0], "gpu"),
        devices_per_node=case.devices or None,
        nodes=case.nodes or None,
        interconnect=record.source.interconnect if record.source else "",
        replicas=case.replicas or None,
        replica_batch=case.batch or None,
        effective_batch=case.effective_batch or None,
        threads=case.threads or None,
        optimizer=case.optimizer if case.phase == Phase.TRAINING else "",
        status=record.status,
        verdict=record.contention.verdict if record.contention else "",
        origin=record.origin,
        labels=case.labels,
        started=record.started or None,
        sweep=record.sweep,
        message=record.message,
        device_asked=case.device,
    )
    if record.staging:
        row.update(staging_seconds=record.staging.seconds)
    if record.allocation:
        given = record.allocation
        row.update(job=given.job, partition=given.partition, queue_seconds=given.queue_seconds)
    if record.status == OK:
        row.update(_printed(record, record.printed) if record.printed else _figures(record))
    return row


DEVICE_TYPES = {"cpu": "cpu", "tpu": "tpu", "": None}


def _figures(record: Record) -> Row:
    summary, cost, resources = record.summary, record.cost, record.resources
    assert summary
    return {
        "batch_time_ms": summary.mean_seconds * 1e3,
        "throughput": summary.mean_speed,
        "uncertainty": summary.uncertainty,
        "jitter": summary.jitter,
        "ci_low": summary.ci_low,
        "ci_high": summary.ci_high,
        "p50_ms": summary.p50_seconds * 1e3,
        "p90_ms": summary.p90_seconds * 1e3,
        "p95_ms": summary.p95_seconds * 1e3,
        "p99_ms": summary.p99_seconds * 1e3,
        "limit_share": cost.limit_share if cost else None,
        "peak_bytes": resources.peak_bytes if resources else None,
    }


def _printed(record: Record, printed: Printed) -> Row:
    """Speed and time are two words for one figure where the batch is known, so that either axis shows all records."""
    batch = record.case.effective_batch or printed.effective_batch
    seconds, speed = printed.mean_seconds, printed.mean_speed
    if batch and seconds is None and speed:
        seconds = batch / speed
    if batch and speed is None and seconds:
        speed = batch / seconds
    percentiles = {f"p{p}_ms": _milliseconds(getattr(printed, f"p{p}_seconds")) for p in (50, 90, 95, 99)}
    return {
        "effective_batch": batch or None,
        "batch_time_ms": _milliseconds(seconds),
        "throughput": speed,
        "uncertainty": printed.uncertainty,
        "jitter": printed.jitter,
        "peak_bytes": printed.peak_bytes,
        **percentiles,
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def server_name(record: Record) -> str:
    return record.source.server if record.source else record.machine.host if record.machine else ""


def device_name(record: Record) -> str:
    machine = record.machine
    if record.source:
        return record.source.device or record.case.device
    on_cpu = ran_on(record) == "cpu"
    if on_cpu or not machine or not machine.accelerators:
        return machine.cpu if machine and on_cpu else record.case.device
    return _gpu_name(machine.accelerators[0].name)


@lru_cache(maxsize=256)
def _gpu_name(raw: str) -> str:
    """In the spelling of imported records, so that both stand under one name."""
    from steptime.store.names import device

    return device(raw)[0] or raw


def ran_on(record: Record) -> str:
    """cpu or cuda: on a site the case names a device type, and the allocation says what that was to the framework."""
    return (record.allocation and record.allocation.ran_on) or record.case.device


def model_name(case: Case) -> str:
    """With the options that differ from the model's own, since another width is another model."""
    options = ",".join(f"{key}={value}" for key, value in sorted(case.model_options.items()))
    return f"{case.model}({options})" if options else case.model


def case_words(case: Case) -> str:
    several = f" on {case.replicas} {case.device}" if case.replicas > 1 or case.device != "cpu" else ""
    return f"{model_name(case)} {case.phase} {case.backend} {case.precision} batch {case.batch}{several}"


def full_row(record: Record) -> Row:
    """The row, and beside it the raw steps and the figures that belong to one record only."""
    row = row_of(record)
    summary, cost = record.summary, record.cost
    measured = record.status == OK
    row["mean_speed"] = summary.mean_speed if summary and measured else row["throughput"]
    row["ci"] = [summary.ci_low, summary.ci_high] if summary and measured else None
    row["flops_per_step"] = cost.flops_per_step if cost else None
    row["steps"] = record.steps.seconds if record.steps else []
    row["steady_start"] = record.steps.steady_start if record.steps else None
    row["stopped_by"] = record.steps.stopped_by if record.steps else None
    return row

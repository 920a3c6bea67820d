"""Running a sweep: probe, job, worker, record, for one case after another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from steptime.backends.base import find
from steptime.environments.choose import interpreter
from steptime.errors import StoreError
from steptime.launch.local import HEARTBEAT_SECONDS, Ending, failure, record_of, run_worker
from steptime.launch.nursery import Nurseries
from steptime.launch.turn import turn
from steptime.machine.describe import describe
from steptime.probe.memory import Finding
from steptime.probe.search import Prober
from steptime.schema import OK, Case, Job, Record, case_key
from steptime.stats.invariants import PEAK_MARGIN, broken_invariant
from steptime.store.files import Store, new_id, records_in
from steptime.sweep.state import Sweep, folder_of, job_folder


class Watcher(Protocol):
    """Whoever shows what is going on."""

    def case_begins(self, case: Case) -> None: ...
    def event(self, case: Case, event: dict[str, Any]) -> None: ...
    def case_ends(self, record: Record) -> None: ...
    def say(self, line: str) -> None: ...


@dataclass(frozen=True)
class Settings:
    python: str = ""
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    wait_for_turn: bool = True
    fresh: bool = False
    """a new interpreter for every case, instead of a fork of one that has imported the framework"""


def run_sweep(store: Store, sweep: Sweep, settings: Settings, watcher: Watcher) -> Iterator[Record]:
    """Yields the record of each case as it is stored; cases that have one already are yielded without being run."""
    done = finished(store, sweep)
    tools = Tools(Prober(describe().id, watcher.say), Nurseries(folder_of(store, sweep) / "nursery"))
    with contextlib.closing(tools.nurseries):
        yield from _run_cases(store, sweep, settings, watcher, done, tools)


@dataclass(frozen=True)
class Tools:
    """What is shared between the cases of a sweep."""

    prober: Prober
    nurseries: Nurseries


def _run_cases(
    store: Store, sweep: Sweep, settings: Settings, watcher: Watcher, done: dict[str, Record], tools: Tools
) -> Iterator[Record]:
    for case in sweep.cases:
        watcher.case_begins(case)
        record = done.get(case_key(case))
        if record is None:
            with turn(
                settings.wait_for_turn, lambda: watcher.say("another steptime is measuring on this machine; waiting for it")
            ):
                record = run_case(store, sweep, case, settings, watcher, tools)
        watcher.case_ends(record)
        yield record


def finished(store: Store, sweep: Sweep) -> dict[str, Record]:
    """Cases of the sweep that need not run again: all with a record but those that were cancelled."""
    _collect(store, sweep)
    return {case_key(r.case): r for r in records_in(store, sweep.id) if r.status != "cancelled"}


def _collect(store: Store, sweep: Sweep) -> None:
    """Stores what a controller that died could not: records that workers finished, and a note of those it left."""
    stored = {record.id for record in records_in(store, sweep.id)}
    for path in folder_of(store, sweep).glob("*/job.json"):
        try:
            job = msgspec.json.decode(path.read_bytes(), type=Job)
        except (OSError, msgspec.DecodeError):
            continue
        if job.id in stored:
            continue
        if (path.parent / "record.json").exists():
            store.put(record_of(job, path.parent, Ending()))
        else:
            store.put(failure(job, "cancelled", "steptime itself ended while this case ran", path.parent, Ending()))


def run_case(store: Store, sweep: Sweep, case: Case, settings: Settings, watcher: Watcher, tools: Tools) -> Record:
    """One case, measured or failed, and stored. After Ctrl-C a `cancelled` record is stored and the interrupt passed on."""
    python = interpreter(case.backend, settings.python)
    prober = tools.prober
    finding = prober.finding(case, python)
    job = _job(sweep, case, finding, prober.peak_flops(case))
    folder = job_folder(store, sweep, case)
    _clear(folder)
    try:
        nursery = None if settings.fresh else tools.nurseries.get(python, case.backend, job.environment)
        shared = folder_of(store, sweep)
        ending = run_worker(job, folder, shared, python, lambda e: watcher.event(case, e), settings.heartbeat_seconds, nursery)
    except KeyboardInterrupt:
        store.put(failure(job, "cancelled", "interrupted", folder, Ending()))
        raise
    except OSError as problem:
        raise StoreError(f"cannot write to {folder}: {problem.strerror}; choose another store with --store DIR") from None
    record = record_of(job, folder, ending)
    if _beats_the_limit(record):
        prober.probe(case, python)
        record = _with_limit(record, prober.peak_flops(case))
    store.put(record)
    return record


def _job(sweep: Sweep, case: Case, finding: Finding | None, peak_flops: float | None) -> Job:
    environment = find(case.backend).environment(case) | (finding.environment if finding else {})
    return Job(new_id(), case, sweep=sweep.id, environment=environment, peak_flops=peak_flops)


def _clear(folder: Path) -> None:
    """An earlier try of the same case must not be taken for this one."""
    for name in ("record.json", "log.txt"):
        (folder / name).unlink(missing_ok=True)


def _beats_the_limit(record: Record) -> bool:
    cost = record.cost
    return bool(cost and cost.achieved_flops and cost.peak_flops and cost.achieved_flops > PEAK_MARGIN * cost.peak_flops)


def _with_limit(record: Record, peak_flops: float | None) -> Record:
    """A step beat the machine's limit: more likely the limit was measured while something else ran, so it is now another."""
    assert record.cost and record.cost.achieved_flops and peak_flops
    cost = replace(record.cost, peak_flops=peak_flops, limit_share=record.cost.achieved_flops / peak_flops)
    record = replace(record, cost=cost, status=OK, message="")
    broken = broken_invariant(record)
    return replace(record, status="wrong_result", message=broken) if broken else record

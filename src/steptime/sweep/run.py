"""Runs a sweep on this machine: one case after another, then the contended ones again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from steptime.core.backends.base import find
from steptime.core.errors import StoreError
from steptime.core.machine.describe import describe
from steptime.core.schema import Case, Failure, FailureCause, Job, Record, Status, case_key, timestamp
from steptime.core.stats.invariants import PEAK_MARGIN, broken_invariant
from steptime.environments.choose import interpreter
from steptime.launch.fork_server import ForkServers
from steptime.launch.job_folder import job_folder
from steptime.launch.local import HEARTBEAT_SECONDS, Ending, failure, record_of, run_worker
from steptime.launch.machine_lock import machine_lock
from steptime.probe.findings import Finding
from steptime.probe.prober import Prober
from steptime.store.files import Store, new_id
from steptime.store.record_search import records_of_sweep
from steptime.sweep.live import LiveFile, holding
from steptime.sweep.state import Sweep, folder_of
from steptime.sweep.verdicts import BatchLimits, best_of, better, contended, runs_again
from steptime.sweep.watcher import Watcher


@dataclass(frozen=True)
class Settings:
    python: str = ""
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    wait_for_machine: bool = True
    fresh: bool = False
    """a new interpreter for every case, instead of a fork of one that has imported the framework"""
    retry: str = ""
    """which cases with a record to run again: one of RETRIES"""
    contended_rounds: int = 1
    """how many times to measure contended cases again at the end"""


def run_sweep(
    store: Store, sweep: Sweep, settings: Settings, watcher: Watcher, fork_servers: ForkServers | None = None
) -> Iterator[Record]:
    """Yields a record for each case, then for each repetition; a case that has one already is not run again.

    The caller closes `fork_servers`, which sweeps that follow each other may share.
    """
    own = ForkServers(folder_of(store, sweep) / "fork-server")
    with contextlib.closing(own), holding(folder_of(store, sweep)):
        recover(store, sweep)
        known = records_of_sweep(store, sweep.id)
        best = best_of(known)
        launcher = CaseLauncher(
            store,
            sweep,
            Prober(describe().id, watcher.say),
            fork_servers or own,
            settings.python,
            settings.heartbeat_seconds,
            settings.fresh,
        )
        live = _LiveWatcher(watcher, LiveFile(folder_of(store, sweep)))
        runner = Runner(launcher, settings, live, best, BatchLimits(known))
        yield from runner.first_round(sweep.cases)
        for _ in range(settings.contended_rounds):
            yield from runner.contended_round(sweep.cases)


@dataclass(frozen=True)
class _LiveWatcher:
    """Also keeps the live file up to date, which `steptime status` reads."""

    watcher: Watcher
    file: LiveFile

    def case_begins(self, case: Case) -> None:
        self.watcher.case_begins(case)
        self.file.case_begins(case)

    def event(self, case: Case, event: dict[str, Any]) -> None:
        self.watcher.event(case, event)
        self.file.event(event)

    def case_ends(self, record: Record) -> None:
        self.watcher.case_ends(record)
        self.file.case_ends(record)

    def measures_again(self, cases: int) -> None:
        self.watcher.measures_again(cases)
        self.file.measures_again(cases)

    def say(self, line: str) -> None:
        self.watcher.say(line)


@dataclass
class Runner:
    launcher: CaseLauncher
    settings: Settings
    watcher: Watcher
    best: dict[str, Record]
    limits: BatchLimits
    _ran: set[str] = field(default_factory=set)

    def first_round(self, cases: Sequence[Case]) -> Iterator[Record]:
        for case in cases:
            record = self.best.get(case_key(case))
            self.watcher.case_begins(case)
            if record is None or runs_again(record, self.settings.retry):
                record = self._run(case)
            self.watcher.case_ends(record)
            yield record

    def contended_round(self, cases: Sequence[Case]) -> Iterator[Record]:
        """Measures contended cases of this run again. The quieter record of each counts; all are stored."""
        again = [case for case in cases if case_key(case) in self._ran and contended(self.best[case_key(case)])]
        if again:
            self.watcher.measures_again(len(again))
        for case in again:
            self.watcher.case_begins(case)
            record = self._run(case)
            self.watcher.case_ends(record)
            yield record

    def _run(self, case: Case) -> Record:
        smaller = self.limits.too_large(case)
        record = self._skipped(case, smaller) if smaller else self._measured(case)
        self.limits.learn(record)
        key = case_key(case)
        self._ran.add(key)
        if key not in self.best or better(record) <= better(self.best[key]):
            self.best[key] = record
        return record

    def _measured(self, case: Case) -> Record:
        def say_so() -> None:
            self.watcher.say("another steptime is measuring on this machine; waiting for it")

        with machine_lock(self.settings.wait_for_machine, say_so):
            return self.launcher.run(case, lambda event: self.watcher.event(case, event))

    def _skipped(self, case: Case, smaller: int) -> Record:
        message = f"not run: batch {smaller} of the same configuration ran out of memory"
        sweep = self.launcher.sweep.id
        record = Record(new_id(), Status.OUT_OF_MEMORY, case, timestamp(), message, sweep, machine=describe(), failure=Failure())
        self.launcher.store.put(record)
        return record


def recover(store: Store, sweep: Sweep) -> None:
    """Stores the records of workers that had finished, and a `cancelled` record of each case that was running."""
    stored = {record.id for record in records_of_sweep(store, sweep.id)}
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
            cause = FailureCause(Status.CANCELLED, "steptime stopped while this case ran")
            store.put(failure(job, cause, path.parent, Ending()))


@dataclass(frozen=True)
class CaseLauncher:
    """Runs the cases of a sweep on this machine, each in a worker of its own."""

    store: Store
    sweep: Sweep
    prober: Prober
    fork_servers: ForkServers
    python: str
    heartbeat_seconds: float
    fresh: bool

    def run(self, case: Case, watch: Callable[[dict[str, Any]], None]) -> Record:
        """Stores the record, measured or failed. After Ctrl-C it stores a `cancelled` one and passes the interrupt on."""
        python = interpreter(case.backend, self.python)
        job = _job(self.sweep, case, self.prober.finding(case, python), self.prober.peak_flops(case))
        sweep_folder = folder_of(self.store, self.sweep)
        folder = job_folder(sweep_folder, case)
        _clear(folder)
        try:
            fork_server = None if self.fresh else self.fork_servers.get(python, case.backend, job.environment)
            ending = run_worker(job, folder, sweep_folder, python, watch, self.heartbeat_seconds, fork_server)
        except KeyboardInterrupt:
            self.store.put(failure(job, FailureCause(Status.CANCELLED, "interrupted"), folder, Ending()))
            raise
        except OSError as problem:
            raise StoreError(f"cannot write to {folder}: {problem.strerror}; choose another store with --store DIR") from None
        record = record_of(job, folder, ending)
        if _only_beats_the_limit(record):
            self.prober.probe(case, python)
            record = _with_limit(record, self.prober.peak_flops(case))
        self.store.put(record)
        return record


def _job(sweep: Sweep, case: Case, finding: Finding | None, peak_flops: float | None) -> Job:
    environment = find(case.backend).environment(case) | (finding.environment if finding else {})
    return Job(new_id(), case, sweep=sweep.id, environment=environment, peak_flops=peak_flops)


def _clear(folder: Path) -> None:
    """Removes what an earlier attempt at the same case left, so that it is not taken for this one's."""
    for name in ("record.json", "log.txt"):
        (folder / name).unlink(missing_ok=True)


def _only_beats_the_limit(record: Record) -> bool:
    """Whether nothing else is wrong with it: the worker gave another reason where a loss is not a number or ranks differ."""
    cost = record.cost
    if not cost or not cost.achieved_flops or not cost.peak_flops:
        return False
    return cost.achieved_flops > PEAK_MARGIN * cost.peak_flops and record.message == broken_invariant(record)


def _with_limit(record: Record, peak_flops: float | None) -> Record:
    """With the limit measured anew: more likely something else ran when it was measured than that a step beat it."""
    assert record.cost and record.cost.achieved_flops and peak_flops
    cost = replace(record.cost, peak_flops=peak_flops, limit_share=record.cost.achieved_flops / peak_flops)
    record = replace(record, cost=cost, status=Status.OK, message="")
    broken = broken_invariant(record)
    return replace(record, status=Status.WRONG_RESULT, message=broken) if broken else record

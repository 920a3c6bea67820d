"""Runs a sweep on this machine: one case after another, then the contended ones again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from steptime.core.machine.describe import describe
from steptime.core.schema import Case, Failure, FailureCause, Job, Record, Status, case_key
from steptime.launch.fork_server import ForkServers
from steptime.launch.local import HEARTBEAT_SECONDS, Ending, failure, record_of
from steptime.launch.machine_lock import machine_lock
from steptime.probe.prober import Prober
from steptime.store.files import Store, new_id
from steptime.store.record_search import records_of_sweep
from steptime.sweep.case import CaseLauncher
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
            self.watcher.say(f"measuring {len(again)} contended cases again")
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
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        sweep = self.launcher.sweep.id
        record = Record(new_id(), Status.OUT_OF_MEMORY, case, started, message, sweep, machine=describe(), failure=Failure())
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

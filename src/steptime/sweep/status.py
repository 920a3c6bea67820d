"""The progress of each sweep, from its file, its records and its live file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from steptime.core.schema import Record, Status, case_key
from steptime.store.files import Store
from steptime.store.record_search import records_of_sweeps
from steptime.sweep import live, remote_status
from steptime.sweep.state import Sweep, folder_of, sweeps
from steptime.sweep.verdicts import best_of, contended


@dataclass(frozen=True)
class SweepStatus:
    sweep: str
    name: str
    total: int
    done: int
    failed: dict[str, int] = field(default_factory=dict)
    contended: int = 0
    running: dict[str, Any] | None = None
    waiting: int = 0
    left_seconds: float | None = None
    state: str = ""
    """finished | running | interrupted"""
    site: str = ""
    jobs: dict[str, int] = field(default_factory=dict)
    """on a site: attempts without a record, by the scheduler's state"""
    notes: list[str] = field(default_factory=list)
    """why they wait"""


def statuses(store: Store, name: str = "") -> list[SweepStatus]:
    """Oldest first; of sweeps with that name, or with that in their id."""
    chosen = [sweep for sweep in sweeps(store) if name in sweep.id or name == sweep.name]
    records = records_of_sweeps(store, [sweep.id for sweep in chosen])
    return [status_of(store, sweep, records[sweep.id]) for sweep in chosen]


def status_of(store: Store, sweep: Sweep, records: list[Record]) -> SweepStatus:
    folder = folder_of(store, sweep)
    best = best_of(records)
    mine = [best[key] for key in map(case_key, sweep.cases) if key in best]
    is_running = live.running(folder)
    now = live.read(folder) if is_running else None
    waiting = [case for case in sweep.cases if case_key(case) not in best]
    awaited = sweep.site and (waiting or is_running)
    jobs = remote_status.jobs_of(store, sweep, {record.id for record in records}) if awaited else None
    busy = int(bool(now and now.case)) + (jobs.states.get("running", 0) if jobs else 0)
    return SweepStatus(
        sweep=sweep.id,
        name=sweep.name,
        total=len(sweep.cases),
        done=sum(r.status == Status.OK for r in mine),
        failed=dict(Counter(r.status for r in mine if r.status != Status.OK)),
        contended=sum(map(contended, mine)),
        running=_running(now) if now and now.case else None,
        waiting=max(0, len(waiting) - busy),
        left_seconds=_left(len(waiting) + _again(now), mine),
        state="running" if is_running or (jobs and jobs.active) else "interrupted" if waiting else "finished",
        site=sweep.site,
        jobs=jobs.states if jobs else {},
        notes=jobs.notes if jobs else [],
    )


def _running(now: live.Live) -> dict[str, Any]:
    keys = ("case", "phase", "mean_speed", "uncertainty", "jitter", "step", "pid", "host", "again_number", "again_total")
    return {key: getattr(now, key) for key in keys}


def _again(now: live.Live | None) -> int:
    """Contended cases that are still to be measured again, the current one included."""
    return now.again_total - now.again_number + int(bool(now.case)) if now else 0


def _left(cases: int, finished: list[Record]) -> float | None:
    """At the pace of the finished cases; None before the first."""
    spent = [_seconds(record) for record in finished]
    return sum(spent) / len(spent) * cases if spent else (0.0 if not cases else None)


def _seconds(record: Record) -> float:
    steps = sum(record.steps.seconds) if record.steps else 0.0
    return steps + (record.resources.startup_seconds if record.resources else 1.0)

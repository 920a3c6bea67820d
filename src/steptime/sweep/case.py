"""One case on this machine: probe, job, worker, record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steptime.core.backends.base import find
from steptime.core.errors import StoreError
from steptime.core.schema import OK, Case, FailureCause, Job, Record, Status
from steptime.core.stats.invariants import PEAK_MARGIN, broken_invariant
from steptime.environments.choose import interpreter
from steptime.launch.fork_server import ForkServers
from steptime.launch.job_folder import job_folder
from steptime.launch.local import Ending, failure, record_of, run_worker
from steptime.probe.findings import Finding
from steptime.probe.prober import Prober
from steptime.store.files import Store, new_id
from steptime.sweep.state import Sweep, folder_of


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
    record = replace(record, cost=cost, status=OK, message="")
    broken = broken_invariant(record)
    return replace(record, status=Status.WRONG_RESULT, message=broken) if broken else record

"""`python steptime-worker.pyz JOB_DIR`: reads job.json there, does what it says, and leaves record.json."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from steptime.core.atomic import write_text
from steptime.core.schema import FailureCause, Job, JobKind, Status, from_json, timestamp, to_json

JOB, RECORD, PROBE = "job.json", "record.json", "probe.json"
LONGEST_MESSAGE = 500


def main(arguments: list[str]) -> int:
    if len(arguments) == 3 and arguments[0] == "--fork-server":
        from steptime.core.worker.fork_server import serve

        return serve(int(arguments[1]), arguments[2])
    if len(arguments) == 3 and arguments[0] == "--deliver":
        from steptime.core.worker.deliver import deliver

        return deliver(Path(arguments[1]), Path(arguments[2]), os.environ)
    if len(arguments) == 2 and arguments[0] == "--parity":
        from steptime.core.parity.answer import answer

        return answer(Path(arguments[1]))
    if len(arguments) != 1 or not (Path(arguments[0]) / JOB).is_file():
        print(f"usage: python steptime-worker.pyz JOB_DIR, a folder with {JOB} in it", file=sys.stderr)
        return 2
    return run_folder(Path(arguments[0]))


def run_folder(folder: Path) -> int:
    job = from_json(Job, (folder / JOB).read_text())
    os.environ.update(job.environment)  # before anything that reads it: numpy and the frameworks come later
    return perform(job, folder)


def perform(job: Job, folder: Path) -> int:
    from steptime.core.worker.events import Events

    started, several = process_start_time(), job.kind != JobKind.PROBE and job.case.replicas > 1
    if several and _must_spawn_ranks(job):
        return _spawn_ranks(job, folder, started)
    events = Events.open()
    rendezvous: Any = None
    try:
        rendezvous = _rendezvous(job) if several else None
        if rendezvous:
            rendezvous.open()
        name, content = _result(job, folder, events, started, rendezvous)
    except Exception as problem:  # whatever a framework throws is this case's result, not our end
        name, content = RECORD, _failure(job, _cause(problem, rendezvous), started)
    if rendezvous:
        if content is not None and content.failure:
            rendezvous.fail(content.status, content.message)
        if rendezvous.rank.number and (rendezvous.connected or (folder / RECORD).exists()):
            return 0  # rank 0 writes the record of all
    try:
        if name:
            write_text(folder / name, to_json(content))
    except OSError as problem:  # sent through the pipe, since a full disk takes no log either
        events.send("problem", message=f"cannot write {name}: {problem.strerror}")
        return 1
    events.send("end")
    return 0


def process_start_time() -> float:
    """In seconds since the epoch; includes what the interpreter took before our first line."""
    try:
        with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
            ticks = int(stat.read().rpartition(")")[2].split()[19])
            age = float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
        return time.time() - age
    except (OSError, ValueError, IndexError):
        return time.time()


def _cause(problem: Exception, rendezvous: Any) -> FailureCause:
    from steptime.core.errors import CaseFailed, SteptimeError

    if isinstance(problem, CaseFailed):
        return FailureCause(problem.kind, str(problem))
    if isinstance(problem, SteptimeError):
        return FailureCause(Status.UNSUPPORTED, str(problem))
    traceback.print_exc()
    if isinstance(problem, ImportError):
        message = f"{type(problem).__name__}: {problem} (in {sys.executable})"
        return FailureCause(Status.LAUNCH_FAILED, message[:LONGEST_MESSAGE])
    return _rank_cause(problem, rendezvous) if rendezvous else _exception_cause(problem)


def _exception_cause(problem: Exception) -> FailureCause:
    """Of an exception that the framework threw, in one line."""
    from steptime.core.worker.limits import is_out_of_memory, memory_words

    if is_out_of_memory(problem):
        return FailureCause(Status.OUT_OF_MEMORY, memory_words(problem)[:LONGEST_MESSAGE])
    lines = str(problem).strip().splitlines() or [""]
    return FailureCause(Status.CRASH, f"{type(problem).__name__}: {lines[0]}"[:LONGEST_MESSAGE])


def _rank_cause(problem: Exception, rendezvous: Any) -> FailureCause:
    """Of one of several ranks: another rank's failure, if that is what broke this one."""
    from steptime.core.worker.limits import is_timeout

    failed = rendezvous.failed_rank() if rendezvous.rank.number == 0 else None
    if failed:
        return FailureCause(failed.kind, str(failed))
    cause = _exception_cause(problem)
    return replace(cause, kind=Status.TIMEOUT) if is_timeout(problem) else cause


def _must_spawn_ranks(job: Job) -> bool:
    """Whether this process must start the ranks of a case: on one machine, where no launcher did."""
    from steptime.core.backends.base import find, names

    known = job.case.backend in names() and find(job.case.backend).data_parallel
    return known and job.case.nodes == 1 and not os.environ.get("MASTER_ADDR")


def _spawn_ranks(job: Job, folder: Path, started: float) -> int:
    from steptime.core.worker.spawn_ranks import run_ranks

    cause = run_ranks(job, folder)
    if cause:
        write_text(folder / RECORD, to_json(_failure(job, cause, started)))
    return 0


def _rendezvous(job: Job) -> Any:
    """Of all ranks, not yet open; None where no ranks were started."""
    from steptime.core.worker.ranks import Rendezvous, rank_of, silence_seconds

    rank = rank_of(job.case, os.environ)
    if rank is None:
        return None
    return Rendezvous(rank, job.id, silence_seconds(job.case))


def _result(job: Job, folder: Path, events: Any, started: float, rendezvous: Any) -> tuple[str, Any]:
    if job.kind == JobKind.PROBE:
        from steptime.core.worker.probe import probed

        return PROBE, probed(job)
    if job.kind == JobKind.PARITY:
        from steptime.core.worker.parity import write_parity

        write_parity(job, folder, rendezvous)
        return "", None
    from steptime.core.worker.run_case import run_case

    return RECORD, run_case(job, events, started, rendezvous)


def _failure(job: Job, cause: FailureCause, started: float) -> Any:
    from steptime.core.machine.describe import describe
    from steptime.core.schema import Failure, Record

    return Record(
        id=job.id,
        status=cause.kind,
        case=job.case,
        started=timestamp(started),
        message=cause.message,
        sweep=job.sweep,
        machine=describe(),
        failure=Failure(),
    )


def finish(code: int) -> None:
    """Ends at once: a framework's threads must not crash at exit after the record is written."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    finish(main(sys.argv[1:]))

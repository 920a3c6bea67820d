"""Starts the ranks of a case on this machine; when one fails, ends the others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from steptime.core.schema import FailureCause, Job, JobKind, Status
from steptime.core.worker.events import VARIABLE
from steptime.core.worker.exit_cause import exit_cause
from steptime.core.worker.ranks import free_port, local_environment

GRACE_SECONDS = 5.0
TICK_SECONDS = 0.05
WORKER = "steptime-worker.pyz"


def run_ranks(job: Job, folder: Path) -> Optional[FailureCause]:
    """Runs all ranks to their end. The cause of a failure that rank 0 could not record itself, if there was one."""
    ranks = _start(job.case.replicas, folder)
    failed = _first_to_fail(ranks)
    _end(ranks)
    recorded = (folder / "record.json").exists()
    if failed is not None:
        code = ranks[failed].returncode
        return None if recorded and code >= 0 else exit_cause(code, f"rank {failed}")
    if recorded or job.kind != JobKind.MEASURE:
        return None
    return FailureCause(Status.CRASH, "the ranks ended and left no record")


def _start(count: int, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Rank 0 inherits our event pipe; all share our process group, and so end with us."""
    events, port = int(os.environ.pop(VARIABLE, "-1")), free_port()
    command = [sys.executable, str(folder / WORKER), str(folder)]
    ranks = []
    for number in range(count):
        environment = local_environment(number, count, port)
        pipes: tuple[int, ...] = ()
        if number == 0 and events >= 0:
            environment[VARIABLE], pipes = str(events), (events,)
        ranks.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=pipes))
    if events >= 0:
        os.close(events)
    return ranks


def _first_to_fail(ranks: Sequence[subprocess.Popen[bytes]]) -> Optional[int]:
    """None when rank 0 exited with 0, and so recorded for all. A rank that reported its failure exits with 0 too."""
    while True:
        codes = [rank.poll() for rank in ranks]
        bad = [number for number, code in enumerate(codes) if code]
        if bad:
            killed = [number for number in bad if (codes[number] or 0) < 0]
            return (killed or bad)[0]
        if codes[0] is not None:
            return None
        time.sleep(TICK_SECONDS)


def _end(ranks: Sequence[subprocess.Popen[bytes]]) -> None:
    """The others get some seconds to end by themselves, and rank 0 to record what it knows; then they are killed."""
    until = time.monotonic() + GRACE_SECONDS
    for rank in ranks:
        try:
            rank.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            rank.kill()
            rank.wait()

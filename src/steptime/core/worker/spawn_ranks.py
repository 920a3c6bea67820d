"""The ranks of a case on this machine: started together, and none outlives a failure of another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from steptime.core.schema import Job, JobKind, Status
from steptime.core.worker.events import VARIABLE
from steptime.core.worker.ranks import free_port, local_environment

GRACE_SECONDS = 5.0
TICK_SECONDS = 0.05
WORKER = "steptime-worker.pyz"
Failure = tuple[Status, str]


def run_ranks(job: Job, folder: Path) -> Optional[Failure]:
    """Runs all ranks to their end. The kind and message of a failure that rank 0 could not record itself, if there was one."""
    ranks = _start(job.case.replicas, folder)
    first = _first_to_fail(ranks)
    _end(ranks)
    if first is not None:
        return _described(first, ranks[first].returncode, folder)
    return (
        None
        if (folder / "record.json").exists() or job.kind != JobKind.MEASURE
        else (Status.CRASH, "the ranks ended and left no record")
    )


def _start(count: int, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Rank 0 speaks to whoever started us; all share our process group, and so end with us."""
    events, port = int(os.environ.pop(VARIABLE, "-1")), free_port()
    ranks = []
    for number in range(count):
        environment = local_environment(number, count, port)
        speaks = number == 0 and events >= 0
        if speaks:
            environment[VARIABLE] = str(events)
        command = [sys.executable, str(folder / WORKER), str(folder)]
        ranks.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=(events,) if speaks else ()))
    if events >= 0:
        os.close(events)
    return ranks


def _first_to_fail(ranks: Sequence[subprocess.Popen[bytes]]) -> Optional[int]:
    """None when rank 0 has ended well, and so speaks for all. A rank that told its failure ends well too."""
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
    """The others may still end by themselves, and rank 0 write down what it knows; then they are ended."""
    until = time.monotonic() + GRACE_SECONDS
    for rank in ranks:
        try:
            rank.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            rank.kill()
            rank.wait()


def _described(number: int, code: int, folder: Path) -> Optional[Failure]:
    if code >= 0:
        return (
            None
            if (folder / "record.json").exists()
            else (Status.CRASH, f"rank {number} ended with exit code {code} and no record")
        )
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    if -code == signal.SIGILL:
        return (
            Status.ILLEGAL_INSTRUCTION,
            f"rank {number} killed by {name}: this CPU does not run an instruction that it advertises",
        )
    return Status.CRASH, f"rank {number} killed by {name}"

"""Slurm's commands, each with a time limit."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from steptime.core.errors import UsageError
from steptime.core.schema import FailureCause
from steptime.schedulers.scheduler import EndedJob, Full, NoAnswer, QueuedJob, Refused, ScriptDialect
from steptime.schedulers.slurm.script import SlurmScript
from steptime.schedulers.slurm.states import (
    ACCOUNT_FIELDS,
    QUEUE_FORMAT,
    Accounted,
    Evidence,
    Queued,
    failure_cause,
    parse_sacct,
    parse_scontrol,
    parse_squeue,
)

SUBMIT_SECONDS = 60.0
ASK_SECONDS = 30.0
NOT_ANSWERING = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection (refused|timed out|reset)|temporarily un|Zero Bytes were"
    r"|Transport endpoint|Unexpected message received|Protocol authentication error|try again|Resource temporarily",
    re.I,
)
LIMIT_REACHED = re.compile(r"submit limit|MaxSubmit|Job limit|MaxJobCount", re.I)
PR_SET_PDEATHSIG = 1


class Slurm:
    name = "Slurm"
    script: ScriptDialect = SlurmScript()

    def submit(self, folder: Path, name: str) -> str:
        text = _run(["sbatch", "--parsable", f"--job-name={name}", "script.sh"], SUBMIT_SECONDS, folder, dies_with_us=True)
        number = re.match(r"(\d+)", text.strip().splitlines()[-1] if text.strip() else "")
        if not number:
            raise NoAnswer(f"sbatch said '{text.strip()[:200]}'")
        return number[1]

    def find(self, name: str, since: datetime) -> str:
        """In the queue, which forgets ended jobs after minutes; then in accounting, where there is any."""
        jobs = list(self.queue([name])) or list(_accounts([f"--name={name}", f"--starttime={_midnight(since)}"]))
        return jobs[0].partition("_")[0] if jobs else ""

    def queue(self, names: Sequence[str]) -> dict[str, Queued]:
        if not names:
            return {}
        command = ["squeue", "--noheader", "--array", "--states=all", f"--format={QUEUE_FORMAT}", f"--name={','.join(names)}"]
        try:
            return parse_squeue(_run(command, ASK_SECONDS))
        except Refused as problem:  # a question is never refused for good: what is not known is asked again
            raise NoAnswer(str(problem)) from None

    def failure_causes(self, jobs: Sequence[EndedJob], queue: Mapping[str, QueuedJob]) -> dict[str, FailureCause]:
        """One sacct for all of them, then scontrol for each."""
        accounts = _accounts([f"--jobs={','.join(job.job for job in jobs)}"])
        return {
            ended.job: failure_cause(Evidence(ended, queue.get(ended.job), accounts.get(ended.job), _details(ended.job)))
            for ended in jobs
        }

    def cancel(self, jobs: Sequence[str]) -> str:
        try:
            _run(["scancel", *jobs], ASK_SECONDS)
        except (Refused, NoAnswer) as problem:
            return str(problem)
        return ""

    def largest_array(self) -> int:
        """MaxArraySize, which is one more than the highest index."""
        setting = re.search(r"^MaxArraySize\s*=\s*(\d+)", _run(["scontrol", "show", "config"], ASK_SECONDS), re.M)
        return int(setting[1]) if setting else 1001

    def log_name(self, job: str) -> str:
        return f"slurm-{job}.out"


def _midnight(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%dT00:00:00")


def _accounts(which: list[str]) -> dict[str, Accounted]:
    """Jobs with their steps; nothing where there is no accounting."""
    command = ["sacct", "--noheader", "--parsable2", "--duplicates", f"--format={ACCOUNT_FIELDS}", *which]
    try:
        return parse_sacct(_run(command, ASK_SECONDS))
    except Refused:  # accounting is disabled, or of no use: scontrol and the exit file are left
        return {}


def _details(job: str) -> dict[str, str]:
    """What slurmctld says of one job; nothing if it has forgotten it."""
    try:
        return parse_scontrol(_run(["scontrol", "--oneliner", "--details", "show", "job", job], ASK_SECONDS))
    except Refused:
        return {}


def _run(command: Sequence[str], seconds: float, folder: Path | None = None, dies_with_us: bool = False) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            env=_environment(),
            preexec_fn=_die_with_parent if dies_with_us else None,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{command[0]} did not answer within {seconds:g} s") from None
    except FileNotFoundError:
        raise UsageError(f"{command[0]} is not on PATH: run this on a login node of the cluster") from None
    if done.returncode == 0:
        return done.stdout
    message = " ".join(done.stderr.split()) or f"{command[0]} ended with exit code {done.returncode}"
    if NOT_ANSWERING.search(message) or done.returncode < 0:
        raise NoAnswer(message)
    raise (Full if LIMIT_REACHED.search(message) else Refused)(message)


def _environment() -> dict[str, str]:
    """Ours, without the variables that change what squeue and sacct print."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SACCT_", "SLURM_TIME_FORMAT"))}
    return {**kept, "LC_ALL": "C.UTF-8"}


_libc = ctypes.CDLL(None)


def _die_with_parent() -> None:
    """An sbatch that outlived us might submit after another process has looked for the job and found none."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

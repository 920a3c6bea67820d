"""Slurm's commands: each with a time limit, each giving text or saying that Slurm did not answer."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steptime.core.errors import UsageError
from steptime.schedulers.slurm.states import (
    ACCOUNT_FIELDS,
    QUEUE_FORMAT,
    Accounted,
    Queued,
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


class NoAnswer(Exception):
    """Slurm did not answer: what was asked is unknown, and may be asked again."""


class Refused(Exception):
    """Slurm said no, in its own words."""


class Full(Refused):
    """No more jobs may be submitted for now."""


@dataclass(frozen=True)
class Slurm:
    """The cluster that the commands on PATH talk to."""

    def submit(self, folder: Path, name: str, script: str = "script.sh") -> str:
        """The id of the new job. After NoAnswer there may be one: look its name up."""
        text = _run(["sbatch", "--parsable", f"--job-name={name}", script], SUBMIT_SECONDS, folder, dies_with_us=True)
        found = re.match(r"(\d+)", text.strip().splitlines()[-1] if text.strip() else "")
        if not found:
            raise NoAnswer(f"sbatch said '{text.strip()[:200]}'")
        return found[1]

    def queue(self, names: Sequence[str]) -> dict[str, Queued]:
        """All jobs of these names that Slurm still remembers, ended ones included, by id."""
        if not names:
            return {}
        command = ["squeue", "--noheader", "--array", "--states=all", f"--format={QUEUE_FORMAT}", f"--name={','.join(names)}"]
        return parse_squeue(_run(command, ASK_SECONDS))

    def accounts(self, jobs: Sequence[str]) -> dict[str, Accounted] | None:
        """What accounting says of these jobs and their steps; None where there is no accounting."""
        return _accounts([f"--jobs={','.join(jobs)}"])

    def accounts_named(self, name: str, since: str) -> dict[str, Accounted] | None:
        return _accounts([f"--name={name}", f"--starttime={since}"])

    def details(self, job: str) -> dict[str, str] | None:
        """What slurmctld says of one job; None if it knows it no more."""
        try:
            return parse_scontrol(_run(["scontrol", "--oneliner", "--details", "show", "job", job], ASK_SECONDS))
        except Refused:
            return None

    def cancel(self, jobs: Sequence[str]) -> str:
        """Slurm's complaint, if it has one."""
        try:
            _run(["scancel", *jobs], ASK_SECONDS)
        except (Refused, NoAnswer) as problem:
            return str(problem)
        return ""

    def largest_array(self) -> int:
        """MaxArraySize, which is one more than the highest index."""
        found = re.search(r"^MaxArraySize\s*=\s*(\d+)", _run(["scontrol", "show", "config"], ASK_SECONDS), re.M)
        return int(found[1]) if found else 1001


def _accounts(which: list[str]) -> dict[str, Accounted] | None:
    command = ["sacct", "--noheader", "--parsable2", "--duplicates", f"--format={ACCOUNT_FIELDS}", *which]
    try:
        return parse_sacct(_run(command, ASK_SECONDS))
    except Refused:  # accounting is disabled, or of no use: scontrol and the exit file are left
        return None


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
        raise UsageError(f"no {command[0]} here: run this on a login node of the cluster") from None
    if done.returncode == 0:
        return done.stdout
    message = " ".join(done.stderr.split()) or f"{command[0]} ended with exit code {done.returncode}"
    if NOT_ANSWERING.search(message) or done.returncode < 0:
        raise NoAnswer(message)
    raise (Full if LIMIT_REACHED.search(message) else Refused)(message)


def _environment() -> dict[str, str]:
    """Ours, without the variables that would change what the asking commands print."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SACCT_", "SLURM_TIME_FORMAT"))}
    return {**kept, "LC_ALL": "C.UTF-8"}


_libc = ctypes.CDLL(None)


def _die_with_parent() -> None:
    """An sbatch that outlived us might submit after somebody else has looked and found nothing."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

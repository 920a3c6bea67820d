"""What steptime needs of a scheduler. Each scheduler is a folder here that implements `Scheduler`; Slurm is the first.

A job's id is the scheduler's own number; task 3 of the array 17 is `17_3`, however the scheduler writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from steptime.core.schema import FailureCause
from steptime.schedulers.request import Request
from steptime.schedulers.site import Site


class NoAnswer(Exception):
    """The scheduler did not answer: what was asked is unknown, and may be asked again."""


class Refused(Exception):
    """The scheduler said no, in its own words."""


class Full(Refused):
    """The scheduler accepts no more jobs for now."""


class QueuedJob(Protocol):
    """A job that the scheduler still remembers."""

    @property
    def state(self) -> str:
        """the scheduler's word: PENDING, RUNNING, ..."""

    @property
    def partition(self) -> str: ...
    @property
    def nodes(self) -> str: ...
    @property
    def reason(self) -> str:
        """the scheduler's word for why it waits or ended"""

    @property
    def ended(self) -> bool: ...
    @property
    def hopeless(self) -> bool:
        """whether it would wait for ever"""

    def waiting_words(self, wanted: str) -> str:
        """Why it waits, for people; `wanted` is what it asks for. Empty if it does not wait."""


@dataclass(frozen=True)
class EndedJob:
    """A job that ended without a record: what our own files say of it."""

    job: str
    began: bool
    """whether its script ran at all"""
    exit_code: int | None
    """as the script wrote it down"""
    limit_seconds: float


@dataclass(frozen=True)
class JobVariables:
    """Names of the variables that the scheduler sets in a job."""

    job_id: str
    array_id: str
    """set in the tasks of an array only"""
    task: str
    """the number of the task, from 0"""
    job_name: str
    submit_folder: str


class ScriptDialect(Protocol):
    """The parts of a batch script that differ between schedulers."""

    submit_command: str
    variables: JobVariables

    def directives(self, site: Site, request: Request, job_name: str, tasks: int) -> list[str]:
        """The comment lines that ask for resources. `tasks`: of the array; 0 for a single job."""

    def allocation(self) -> list[str]:
        """Shell lines that export STEPTIME_PARTITION, STEPTIME_NODES and STEPTIME_QUEUED for the record."""

    def launcher(self, request: Request) -> str:
        """The command that starts the ranks of a case, up to the program; ends with a space."""


class Scheduler(Protocol):
    """The cluster that the scheduler's commands on PATH talk to. Every method may raise NoAnswer unless it says otherwise."""

    name: str
    """for people"""
    script: ScriptDialect

    def submit(self, folder: Path, name: str) -> str:
        """Submits script.sh of `folder`; the id of the new job. After NoAnswer there may be one: `find` it. May raise Refused."""

    def find(self, name: str, since: datetime) -> str:
        """The id of the job of this name; empty if there is none."""

    def queue(self, names: Sequence[str]) -> Mapping[str, QueuedJob]:
        """All jobs of these names that the scheduler remembers, ended ones included, by id."""

    def failure_causes(self, jobs: Sequence[EndedJob], queue: Mapping[str, QueuedJob]) -> Mapping[str, FailureCause]:
        """Why each of these jobs left no record. What is unknown is said to be unknown."""

    def cancel(self, jobs: Sequence[str]) -> str:
        """The scheduler's complaint, if it has one; raises nothing."""

    def largest_array(self) -> int:
        """How many tasks an array may have. May raise Refused."""

    def log_name(self, job: str) -> str:
        """The file in the submitted folder to which the scheduler writes what the job prints."""

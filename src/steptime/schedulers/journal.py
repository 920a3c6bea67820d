"""Submissions on disk: the intent before the scheduler is called, then its answer. Files only, so anybody can continue.

submissions/NAME.json        what is about to be submitted; NAME is the job's name in the scheduler, and unique
           /NAME.job         accepted, with this job id (written by whoever knows first, the job itself included)
           /NAME.refused     refused by the scheduler, in these words
           /NAME.abandoned   given up: if the scheduler starts it all the same, its script ends at once
"""

from __future__ import annotations

import contextlib
import getpass
import platform
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steptime.core.atomic import write_text
from steptime.core.schema import timestamp

FOLDER = "submissions"


@dataclass(frozen=True)
class Entry:
    """One case of a submission."""

    key: str
    folder: str
    """relative to the sweep's folder"""
    record: str
    """the id of its job; a record's id is this and the attempt's"""
    limit_seconds: float


@dataclass(frozen=True)
class Submission:
    name: str
    folder: str
    """of the script, relative to the sweep's folder"""
    entries: list[Entry]
    array: bool
    wanted: str
    """the request in words: 2 p100 in gpu"""
    created: str
    host: str
    user: str


@dataclass(frozen=True)
class Attempt:
    """One case in one accepted job."""

    submission: Submission
    entry: Entry
    job: str
    """the scheduler's id of it: 17, or 17_3"""

    @property
    def record_id(self) -> str:
        return f"{self.entry.record}-{self.job}"

    def folder(self, sweep_folder: Path) -> Path:
        return sweep_folder / self.entry.folder / f"try-{self.job}"


@dataclass(frozen=True)
class SubmissionJournal:
    """The submissions of one sweep."""

    sweep_folder: Path

    @property
    def _folder(self) -> Path:
        return self.sweep_folder / FOLDER

    def open(self, folder: str, entries: Sequence[Entry], array: bool, wanted: str) -> Submission:
        """Writes the intent, safely, before the scheduler is called."""
        self._folder.mkdir(exist_ok=True)
        name = f"steptime-{self.sweep_folder.name[-8:]}-{secrets.token_hex(4)}"
        submission = Submission(name, folder, list(entries), array, wanted, timestamp(), platform.node(), _user())
        write_text(self._folder / f"{name}.json", msgspec.json.encode(submission).decode())
        return submission

    def all(self) -> list[Submission]:
        submissions = []
        for path in self._folder.glob("*.json"):
            with contextlib.suppress(OSError, msgspec.DecodeError):
                submissions.append(msgspec.json.decode(path.read_bytes(), type=Submission))
        return sorted(submissions, key=lambda submission: submission.created)

    def job(self, submission: Submission) -> str:
        """The accepted job's id; empty if none is known."""
        return self._read(submission, "job")

    def accept(self, submission: Submission, job: str) -> None:
        self._write(submission, "job", job)

    def refusal(self, submission: Submission) -> str:
        return self._read(submission, "refused")

    def refuse(self, submission: Submission, message: str) -> None:
        self._write(submission, "refused", message)

    def is_abandoned(self, submission: Submission) -> bool:
        return (self._folder / f"{submission.name}.abandoned").exists()

    def abandon(self, submission: Submission, why: str) -> None:
        self._write(submission, "abandoned", why)

    def is_open(self, submission: Submission) -> bool:
        """Whether its outcome is still unknown."""
        return not (self.job(submission) or self.refusal(submission) or self.is_abandoned(submission))

    def attempts(self, submission: Submission) -> list[Attempt]:
        job = self.job(submission)
        if not job:
            return []
        return [
            Attempt(submission, entry, f"{job}_{i}" if submission.array else job) for i, entry in enumerate(submission.entries)
        ]

    def _read(self, submission: Submission, kind: str) -> str:
        try:
            return (self._folder / f"{submission.name}.{kind}").read_text().strip()
        except OSError:
            return ""

    def _write(self, submission: Submission, kind: str, text: str) -> None:
        write_text(self._folder / f"{submission.name}.{kind}", text + "\n")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""

"""A scheduler without a cluster: jobs are entries of a table, and each submission goes as the test says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from steptime.core.schema import Allocation, Case, Contention, FailureCause, Record, Status, Verdict, from_json
from steptime.schedulers.journal import Attempt, SubmissionJournal
from steptime.schedulers.scheduler import Full, NoAnswer, Refused
from steptime.schedulers.slurm.script import SlurmScript
from steptime.store.files import Store

UNKNOWN = FailureCause(Status.CRASH, "how it ended is unknown")
ACCEPT, REFUSE, FULL, LOSE_ANSWER, LOSE_REQUEST = "accept", "refuse", "full", "lose the answer", "lose the request"


@dataclass
class FakeJob:
    """Obeys QueuedJob."""

    name: str
    folder: Path
    state: str = "PENDING"
    partition: str = "def"
    nodes: str = ""
    reason: str = "Resources"
    ended: bool = False
    hopeless: bool = False
    cause: FailureCause = UNKNOWN

    def waiting_words(self, wanted: str) -> str:
        return f"waits for {wanted}" if self.state == "PENDING" else ""

    def end(self, state: str, cause: FailureCause = UNKNOWN) -> None:
        self.state, self.ended, self.cause = state, True, cause


@dataclass
class FakeScheduler:
    answers: list[str] = field(default_factory=list)
    """to the next submissions; when they are used up, every one is accepted"""
    is_away: bool = False
    jobs: dict[str, FakeJob] = field(default_factory=dict)
    submitted: list[str] = field(default_factory=list)
    """names, accepted or not"""
    cancelled: list[str] = field(default_factory=list)
    name: str = "Fake"
    script: SlurmScript = field(default_factory=SlurmScript)

    def submit(self, folder: Path, name: str) -> str:
        self.submitted.append(name)
        answer = self.answers.pop(0) if self.answers else ACCEPT
        if answer == REFUSE:
            raise Refused("no such partition")
        if answer == FULL:
            raise Full("job limit reached")
        if answer == LOSE_REQUEST:
            raise NoAnswer("did not answer within 60 s")
        number = str(100 + len(self.submitted))
        tasks = _tasks((folder / "script.sh").read_text())
        for job in [f"{number}_{i}" for i in range(tasks)] or [number]:
            self.jobs[job] = FakeJob(name, folder)
        if answer == LOSE_ANSWER:
            raise NoAnswer("did not answer within 60 s")
        return number

    def find(self, name: str, since: datetime) -> str:
        self._answer()
        return next((job.partition("_")[0] for job, entry in self.jobs.items() if entry.name == name), "")

    def queue(self, names):
        self._answer()
        return {job: entry for job, entry in self.jobs.items() if entry.name in names}

    def failure_causes(self, jobs, queue):
        self._answer()
        return {ended.job: self.jobs[ended.job].cause if ended.job in self.jobs else UNKNOWN for ended in jobs}

    def cancel(self, jobs) -> str:
        self.cancelled += jobs
        return ""

    def largest_array(self) -> int:
        self._answer()
        return 1001

    def log_name(self, job: str) -> str:
        return f"fake-{job}.out"

    def _answer(self) -> None:
        if self.is_away:
            raise NoAnswer("it is away")


def _tasks(script: str) -> int:
    """How many tasks the array of a script has; 0 for a single job."""
    lines = [line for line in script.splitlines() if "--array=0-" in line]
    return int(lines[0].partition("--array=0-")[2].partition("%")[0]) + 1 if lines else 0


@dataclass
class FakeClock:
    """Pauses take no time, and let something happen instead."""

    now: float = 0.0
    during_pause: Callable[[], None] = lambda: None
    pauses: list[float] = field(default_factory=list)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        assert len(self.pauses) < 1000, "it waits for ever"
        self.now += seconds
        self.during_pause()

    def __call__(self) -> float:
        return self.now


def attempts_of(journal: SubmissionJournal) -> list[Attempt]:
    return [attempt for submission in journal.all() for attempt in journal.attempts(submission)]


def deliver(store: Store, sweep_folder: Path, attempt: Attempt, verdict: Verdict = Verdict.CLEAN) -> None:
    """What a job does that ends well: its record, then its exit code."""
    folder = attempt.folder(sweep_folder)
    folder.mkdir()
    store.put(measured(sweep_folder, attempt, verdict))
    (folder / "exit").write_text("0\n")


def measured(sweep_folder: Path, attempt: Attempt, verdict: Verdict = Verdict.CLEAN) -> Record:
    content = json.loads((sweep_folder / attempt.entry.folder / "job.json").read_text())
    return Record(
        attempt.record_id,
        Status.OK,
        from_json(Case, json.dumps(content["case"])),
        "2026-11-01T10:00:00.000+00:00",
        sweep=sweep_folder.name,
        contention=Contention(verdict, "", 1.0, 1.0, 0.1, 0),
        allocation=Allocation("test", attempt.job),
    )

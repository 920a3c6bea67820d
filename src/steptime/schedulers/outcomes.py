"""What became of attempts: the record that a job delivered, or the failure that the scheduler and the exit file tell of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from steptime.core.schema import Allocation, Case, Failure, FailureCause, Record, Status, timestamp
from steptime.core.worker.deliver import launch_problem
from steptime.launch.local import log_tail
from steptime.schedulers.journal import Attempt, Entry, Submission, SubmissionJournal
from steptime.schedulers.scheduler import EndedJob, QueuedJob, Scheduler
from steptime.store.files import Store

RECORD_GRACE_SECONDS = 3.0
"""between the end of a job and a judgement without its record: accounting and file systems lag"""


@dataclass
class JobOutcomes:
    store: Store
    sweep_id: str
    site: str
    journal: SubmissionJournal
    scheduler: Scheduler
    cases: Mapping[str, Case]
    clock: Callable[[], float] = time.monotonic
    _ended: dict[str, float] = field(default_factory=dict)
    """since when a job is known to be over"""

    def collect(self, attempts: Sequence[Attempt], ask: bool) -> list[tuple[Attempt, Record]]:
        """Those that are over, with their records, which are stored. The scheduler is asked once for all, if at all."""
        delivered = [(attempt, record) for attempt in attempts if (record := self._delivered(attempt))]
        over = {attempt.job for attempt, _ in delivered}
        rest = [attempt for attempt in attempts if attempt.job not in over]
        if not ask or not rest:
            return delivered
        queue = self.scheduler.queue(sorted({attempt.submission.name for attempt in rest}))
        return delivered + self._hopeless(rest, queue) + self._failures(self._over(rest, queue), queue)

    def store_refusals(self, submission: Submission, stored: set[str]) -> list[Record]:
        """A failure for each case of a submission that the scheduler refused; those that are stored already are left out."""
        message = self.journal.refusal(submission)
        if not message:
            return []
        ids = {f"{entry.record}-{submission.name.rpartition('-')[2]}": entry for entry in submission.entries}
        cause = FailureCause(Status.LAUNCH_FAILED, message)
        return [
            self._put(entry, record_id, cause, Failure(), None) for record_id, entry in ids.items() if record_id not in stored
        ]

    def _delivered(self, attempt: Attempt) -> Record | None:
        folder = attempt.folder(self.journal.sweep_folder)
        if not (folder / "exit").exists():
            return None
        return self.store.get(attempt.record_id) or self._undelivered(attempt, folder)

    def _undelivered(self, attempt: Attempt, folder: Path) -> Record | None:
        """A record that the job could not put into the store."""
        try:
            record = msgspec.json.decode((folder / "record.json").read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError):
            return None
        record = replace(record, id=attempt.record_id, allocation=Allocation(self.site, attempt.job))
        self.store.put(record)
        return record

    def _hopeless(self, attempts: Sequence[Attempt], queue: Mapping[str, QueuedJob]) -> list[tuple[Attempt, Record]]:
        """Jobs that would wait for ever are cancelled."""
        failed = []
        for attempt in attempts:
            queued = queue.get(attempt.job)
            if queued and queued.hopeless:
                self.scheduler.cancel([attempt.job])
                cause = FailureCause(Status.LAUNCH_FAILED, f"job {attempt.job} can never start: {queued.reason}")
                failed.append((attempt, self._failure(attempt, cause, queued)))
        return failed

    def _over(self, attempts: Sequence[Attempt], queue: Mapping[str, QueuedJob]) -> list[Attempt]:
        """Those that ended long enough ago for a record to be here by now."""
        now, over = self.clock(), []
        for attempt in attempts:
            queued = queue.get(attempt.job)
            if queued and not queued.ended:
                self._ended.pop(attempt.job, None)
            elif now - self._ended.setdefault(attempt.job, now) >= RECORD_GRACE_SECONDS:
                over.append(attempt)
        return over

    def _failures(self, over: Sequence[Attempt], queue: Mapping[str, QueuedJob]) -> list[tuple[Attempt, Record]]:
        ended = [self._ended_job(attempt) for attempt in over]
        causes = self.scheduler.failure_causes(ended, queue) if ended else {}
        outcomes = []
        for attempt, job in zip(over, ended, strict=True):
            cause = causes[job.job]
            if self.journal.is_abandoned(attempt.submission) and not job.began:
                cause = FailureCause(Status.CANCELLED, f"job {job.job} was cancelled")
            if problem := launch_problem(attempt.folder(self.journal.sweep_folder)):
                cause = FailureCause(Status.LAUNCH_FAILED, problem)
            late = self._delivered(attempt)
            outcomes.append((attempt, late or self._failure(attempt, cause, queue.get(job.job), job.exit_code)))
        return outcomes

    def _ended_job(self, attempt: Attempt) -> EndedJob:
        folder = attempt.folder(self.journal.sweep_folder)
        return EndedJob(attempt.job, folder.is_dir(), _exit_code(folder / "exit"), attempt.entry.limit_seconds)

    def _failure(self, attempt: Attempt, cause: FailureCause, queued: QueuedJob | None, exit_code: int | None = None) -> Record:
        log = self.journal.sweep_folder / attempt.submission.folder / self.scheduler.log_name(attempt.job)
        nodes = [queued.nodes] if queued and queued.nodes else []
        allocation = Allocation(self.site, attempt.job, queued.partition if queued else "", nodes)
        return self._put(attempt.entry, attempt.record_id, cause, Failure(exit_code, "", log_tail(log)), allocation)

    def _put(self, entry: Entry, record_id: str, cause: FailureCause, failure: Failure, allocation: Allocation | None) -> Record:
        case = self.cases[entry.key]
        record = Record(
            record_id, cause.kind, case, timestamp(), cause.message, self.sweep_id, failure=failure, allocation=allocation
        )
        self.store.put(record)
        return record


def _exit_code(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None

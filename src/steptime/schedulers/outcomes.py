"""What became of attempts: the record that a job delivered, or the failure that Slurm and the exit file tell of."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from steptime.core.schema import Allocation, Case, Failure, Record, Status
from steptime.launch.local import log_tail
from steptime.schedulers.journal import Attempt, Entry, Submission, SubmissionJournal
from steptime.schedulers.site import Site
from steptime.schedulers.slurm.commands import Slurm
from steptime.schedulers.slurm.states import Accounted, Evidence, Queued, is_hopeless, verdict
from steptime.store.files import Store

RECORD_GRACE_SECONDS = 3.0
"""between the end of a job and a judgement without its record: accounting and file systems lag"""


@dataclass
class JobOutcomes:
    store: Store
    sweep_id: str
    site: Site
    journal: SubmissionJournal
    slurm: Slurm
    cases: Mapping[str, Case]
    _ended: dict[str, float] = field(default_factory=dict)
    """since when a job is known to be over"""

    def collect(self, attempts: Sequence[Attempt], ask: bool) -> list[tuple[Attempt, Record]]:
        """Those that are over, with their records, which are stored. Slurm is asked once for all, if at all."""
        found = [(t, record) for t in attempts if (record := self._delivered(t))]
        over = {t.job for t, _ in found}
        rest = [t for t in attempts if t.job not in over]
        if not ask or not rest:
            return found
        queue = self.slurm.queue(sorted({t.submission.name for t in rest}))
        return found + self._judged(rest, queue)

    def _delivered(self, attempt: Attempt) -> Record | None:
        folder = attempt.folder(self.journal.sweep_folder)
        if not (folder / "exit").exists():
            return None
        return self.store.get(attempt.record_id) or self._left_behind(attempt, folder)

    def _left_behind(self, attempt: Attempt, folder: Path) -> Record | None:
        """A record that the job could not put into the store."""
        try:
            record = msgspec.json.decode((folder / "record.json").read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError):
            return None
        record = replace(record, id=attempt.record_id, allocation=Allocation(self.site.name, attempt.job))
        self.store.put(record)
        return record

    def _judged(self, attempts: Sequence[Attempt], queue: Mapping[str, Queued]) -> list[tuple[Attempt, Record]]:
        now = time.monotonic()
        found, over = [], []
        for attempt in attempts:
            queued = queue.get(attempt.job)
            if queued and is_hopeless(queued):
                self.slurm.cancel([attempt.job])
                message = f"job {attempt.job} would wait for ever: {queued.reason}"
                found.append((attempt, self._failure(attempt, Status.LAUNCH_FAILED, message, queued)))
            elif queued and not queued.ended:
                self._ended.pop(attempt.job, None)
            elif now - self._ended.setdefault(attempt.job, now) >= RECORD_GRACE_SECONDS:
                over.append((attempt, queued))
        return found + self._failures(over)

    def _failures(self, over: Sequence[tuple[Attempt, Queued | None]]) -> list[tuple[Attempt, Record]]:
        if not over:
            return []
        accounts = self.slurm.accounts([attempt.job for attempt, _ in over])
        found = []
        for attempt, queued in over:
            record = self._delivered(attempt)
            if record is None:
                evidence = self._evidence(attempt, queued, (accounts or {}).get(attempt.job))
                kind, message = verdict(evidence)
                if self.journal.is_abandoned(attempt.submission) and not evidence.began:
                    kind, message = Status.CANCELLED, f"job {attempt.job} was cancelled"
                record = self._failure(attempt, kind, message, queued, evidence.exit_code)
            found.append((attempt, record))
        return found

    def _evidence(self, attempt: Attempt, queued: Queued | None, accounted: Accounted | None) -> Evidence:
        folder = attempt.folder(self.journal.sweep_folder)
        return Evidence(
            attempt.job,
            queued,
            accounted,
            self.slurm.details(attempt.job),
            folder.is_dir(),
            _exit_code(folder / "exit"),
            attempt.entry.limit_seconds,
        )

    def store_refusals(self, submission: Submission, stored: set[str]) -> Iterable[Record]:
        """A failure for each case of a submission that Slurm refused; those that are stored already are left out."""
        message = self.journal.refusal(submission)
        if not message:
            return []
        found = []
        for entry in submission.entries:
            record_id = f"{entry.record}-{submission.name.rpartition('-')[2]}"
            if record_id not in stored:
                found.append(self._put(entry, record_id, Status.LAUNCH_FAILED, message, Failure(), None))
        return found

    def _failure(
        self, attempt: Attempt, kind: Status, message: str, queued: Queued | None, exit_code: int | None = None
    ) -> Record:
        failure = Failure(exit_code, "", log_tail(attempt.log(self.journal.sweep_folder)))
        nodes = [queued.nodes] if queued and queued.nodes else []
        allocation = Allocation(self.site.name, attempt.job, queued.partition if queued else "", nodes)
        return self._put(attempt.entry, attempt.record_id, kind, message, failure, allocation)

    def _put(
        self, entry: Entry, record_id: str, kind: Status, message: str, failure: Failure, allocation: Allocation | None
    ) -> Record:
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        case = self.cases[entry.key]
        record = Record(record_id, kind, case, started, message, self.sweep_id, failure=failure, allocation=allocation)
        self.store.put(record)
        return record


def _exit_code(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None

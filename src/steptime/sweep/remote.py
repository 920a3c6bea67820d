"""A sweep on a site: submits cases, waits for their records, and submits again what a failed node lost.

The process may be killed at any moment: all that it knows is in files, and `steptime resume` reads them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from steptime.core.errors import StoreError, Unsupported
from steptime.core.schema import Case, Failure, Record, Status, case_key, timestamp
from steptime.schedulers.batches import Batch, Refusal, batches, prepare
from steptime.schedulers.choose import scheduler_of
from steptime.schedulers.journal import Attempt, SubmissionJournal
from steptime.schedulers.outcomes import JobOutcomes
from steptime.schedulers.scheduler import Full, NoAnswer, Refused, Scheduler
from steptime.schedulers.site import Site
from steptime.schedulers.submitter import Submitter
from steptime.store.files import Store, new_id
from steptime.store.record_search import records_of_sweep
from steptime.sweep.live import LiveFile, holding, running
from steptime.sweep.run import Settings
from steptime.sweep.state import Sweep, folder_of, site_of_sweep
from steptime.sweep.verdicts import best_of, contended, runs_again
from steptime.sweep.watcher import SILENT, Watcher

TICK_SECONDS = 0.5
LOOKS_PER_SECOND = 400
"""limit on how often the files of attempts are checked: a shared file system serves others too"""
CANCELLED = "cancelled"


@dataclass
class RemoteSweep:
    store: Store
    sweep: Sweep
    site: Site
    settings: Settings
    watcher: Watcher
    scheduler: Scheduler
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _batches: list[Batch] = field(default_factory=list)
    _attempts: list[Attempt] = field(default_factory=list)
    _ran: set[str] = field(default_factory=set)
    _last_message: str = ""

    def __post_init__(self) -> None:
        self.folder = folder_of(self.store, self.sweep)
        self.journal = SubmissionJournal(self.folder)
        self._cases = {case_key(case): case for case in self.sweep.cases}
        self._known: list[Record] = []
        self._outcomes = JobOutcomes(
            self.store, self.sweep.id, self.site.name, self.journal, self.scheduler, self._cases, self.clock
        )
        self._submitter = Submitter(self.journal, self.scheduler, self.site.poll_seconds, self._say_once, self.pause)

    def begin(self) -> Iterator[Record]:
        """Submits every case that has no record and no job; yields the records that exist."""
        LiveFile(self.folder).event({})  # so that others can name this process
        self._read_journal()
        best, awaited = best_of(self._known), {attempt.entry.key for attempt in self._attempts}
        todo = []
        for key, case in self._cases.items():
            record = best.get(key)
            if key in awaited:
                continue
            if record and not self._may_resubmit(record) and not runs_again(record, self.settings.retry):
                yield self._shown(case, record)
            else:
                todo.append(case)
        for case, problem in self._plan(todo):
            yield self._shown(case, self._put_unsupported(case, problem))
        yield from self._submit()

    def wait(self) -> Iterator[Record]:
        """Yields records until every case has one."""
        yield from self._await()
        for _ in range(self.settings.contended_rounds):
            best = best_of(self._known)
            again = [case for key, case in self._cases.items() if key in self._ran & set(best) and contended(best[key])]
            if not again or self.is_cancelled:
                break
            self.watcher.measures_again(len(again))
            self._plan(again)
            yield from self._await()

    def collect(self, patience_seconds: float) -> None:
        """Waits for the submitted jobs, and submits nothing."""
        self._read_journal()
        until = self.clock() + patience_seconds
        while self._attempts and self.clock() < until:
            for _ in self._collect(asks=True):
                pass
            self.pause(TICK_SECONDS)

    @property
    def is_cancelled(self) -> bool:
        return (self.folder / CANCELLED).exists()

    @property
    def outstanding(self) -> Sequence[Attempt]:
        return self._attempts

    @property
    def unsubmitted(self) -> int:
        return sum(len(batch.cases) for batch in self._batches)

    def _read_journal(self) -> None:
        """Finds out what was submitted before, by whomever."""
        self._known = records_of_sweep(self.store, self.sweep.id)
        stored = {record.id for record in self._known}
        for submission in self.journal.all():
            if self.journal.is_open(submission):
                self._submitter.look_up(submission)
            self._outcomes.store_refusals(submission, stored)
            self._attempts += [t for t in self.journal.attempts(submission) if t.record_id not in stored]
        self._known = records_of_sweep(self.store, self.sweep.id)

    def _plan(self, cases: Sequence[Case]) -> list[Refusal]:
        """Puts cases into batches; returns those that the site cannot run."""
        try:
            largest = self.scheduler.largest_array() if len(cases) >= self.site.arrays.at_least else 2
        except (NoAnswer, Refused):
            largest = self.site.arrays.largest
        planned, refused = batches(self.site, cases, largest)
        self._batches += planned
        return refused

    def _submit(self) -> Iterator[Record]:
        """Submits as many batches as the scheduler accepts now; yields the records of those that it refuses."""
        while self._batches and not self.is_cancelled:
            submission = prepare(self.folder, self.site, self._batches[0], self.settings.python, self.scheduler.script)
            try:
                if not self._submitter.submit(submission):
                    continue
            except Full as problem:
                if self._attempts:
                    waiting = "1 case waits" if self.unsubmitted == 1 else f"{self.unsubmitted} cases wait"
                    self._say_once(f"{waiting} to be submitted: {problem}")
                    return
                self.journal.refuse(submission, str(problem))
            batch = self._batches.pop(0)
            self._attempts += self.journal.attempts(submission)
            for record in self._outcomes.store_refusals(submission, set()):
                self._known.append(record)
                yield self._shown(self._cases[case_key(record.case)], record)
            if self.journal.job(submission):
                self.watcher.say(
                    f"job {self.journal.job(submission)}: {len(batch.cases)} of {len(self._cases)} cases, {submission.wanted}"
                )

    def _await(self) -> Iterator[Record]:
        next_ask = self.clock()
        while self._attempts or self._batches:
            yield from self._submit()
            asks = self.clock() >= next_ask
            yield from self._collect(asks)
            if asks:
                next_ask = self.clock() + self.site.poll_seconds
            if self.is_cancelled:
                self._batches.clear()
            if self._attempts:
                self.pause(min(max(TICK_SECONDS, len(self._attempts) / LOOKS_PER_SECOND), self.site.poll_seconds))

    def _collect(self, asks: bool) -> Iterator[Record]:
        try:
            collected = self._outcomes.collect(self._attempts, asks)
        except NoAnswer as problem:
            self._say_once(f"{self.scheduler.name} does not answer ({problem}); asking again")
            return
        if asks:
            self._last_message = ""
        for attempt, record in collected:
            self._attempts.remove(attempt)
            self._known.append(record)
            self._ran.add(attempt.entry.key)
            case = self._cases[attempt.entry.key]
            yield self._shown(case, record)
            if self._may_resubmit(record) and not self.is_cancelled:
                self.watcher.say(f"submitting it again: {record.message}")
                self._plan([case])

    def _may_resubmit(self, record: Record) -> bool:
        """Whether the cluster failed, not the case, and the site's retries are not used up."""
        if record.status != Status.NODE_FAILURE:
            return False
        key = case_key(record.case)
        return sum(case_key(r.case) == key and r.status == Status.NODE_FAILURE for r in self._known) <= self.site.retries

    def _put_unsupported(self, case: Case, problem: Unsupported) -> Record:
        record = Record(new_id(), Status.UNSUPPORTED, case, timestamp(), str(problem), self.sweep.id, failure=Failure())
        self.store.put(record)
        self._known.append(record)
        return record

    def _shown(self, case: Case, record: Record) -> Record:
        self.watcher.case_begins(case)
        self.watcher.case_ends(record)
        return record

    def _say_once(self, line: str) -> None:
        if line != self._last_message:
            self._last_message = line
            self.watcher.say(line)


@contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    """A folder that cannot be written to is one line, not a traceback."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise StoreError(f"cannot write to {folder}: {problem.strerror or problem}") from None


def run_on_site(
    store: Store, sweep: Sweep, site: Site, settings: Settings, watcher: Watcher, detach: bool = False
) -> Iterator[Record]:
    """Yields every record as it arrives; with `detach`, returns once everything is submitted."""
    folder = folder_of(store, sweep)
    with _in_words(folder), holding(folder):
        (folder / CANCELLED).unlink(missing_ok=True)
        remote = RemoteSweep(store, sweep, site, settings, watcher, scheduler_of(site))
        try:
            yield from remote.begin()
            if not detach:
                yield from remote.wait()
        except KeyboardInterrupt:
            if remote.outstanding:
                watcher.say(
                    f"the jobs keep running; `steptime resume {sweep.id}` waits for them, `steptime cancel {sweep.id}` ends them"
                )
            raise
        if detach and remote.unsubmitted:
            watcher.say(f"{remote.unsubmitted} cases are not submitted yet; `steptime resume {sweep.id}` submits them")


def cancel_on_site(store: Store, sweep: Sweep, say: Callable[[str], None], scheduler: Scheduler | None = None) -> list[str]:
    """Cancels all jobs of a sweep and returns them. A job that the scheduler does not cancel ends when its script starts."""
    scheduler = scheduler or scheduler_of(site_of_sweep(store, sweep))
    folder = folder_of(store, sweep)
    journal = SubmissionJournal(folder)
    stored = {record.id for record in records_of_sweep(store, sweep.id)}
    jobs = []
    with _in_words(folder):
        (folder / CANCELLED).touch()
        for submission in journal.all():
            left = [t for t in journal.attempts(submission) if t.record_id not in stored]
            if left or journal.is_open(submission):
                journal.abandon(submission, "cancelled")
            if left:
                jobs.append(journal.job(submission))
    complaint = scheduler.cancel(jobs) if jobs else ""
    if complaint:
        say(f"{scheduler.name}: {complaint}; jobs that have not begun end at once when they start")
    return jobs


def collect_cancelled(store: Store, sweep: Sweep, patience_seconds: float) -> None:
    """Records what became of cancelled jobs, unless a process that waits for the sweep does so."""
    folder = folder_of(store, sweep)
    if running(folder):
        return
    with holding(folder):
        site = site_of_sweep(store, sweep)
        remote = RemoteSweep(store, sweep, site, Settings(contended_rounds=0), SILENT, scheduler_of(site))
        remote.collect(patience_seconds)

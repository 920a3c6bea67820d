"""The state of the jobs of a sweep on a site: from its files and one query of the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from steptime.core.errors import SteptimeError
from steptime.schedulers.choose import scheduler_of
from steptime.schedulers.journal import SubmissionJournal
from steptime.schedulers.scheduler import NoAnswer, Scheduler
from steptime.store.files import Store
from steptime.sweep.state import Sweep, folder_of, site_of_sweep


@dataclass(frozen=True)
class Jobs:
    states: dict[str, int] = field(default_factory=dict)
    """the scheduler's words, lower case: pending, running, ..."""
    notes: list[str] = field(default_factory=list)
    """why they wait, or why nothing is known"""

    @property
    def active(self) -> int:
        return sum(number for state, number in self.states.items() if state not in ("ended", "unknown"))


def jobs_of(store: Store, sweep: Sweep, stored: Collection[str], scheduler: Scheduler | None = None) -> Jobs:
    """Of the attempts without a record. `stored`: the ids of all records."""
    journal = SubmissionJournal(folder_of(store, sweep))
    attempts = [t for s in journal.all() for t in journal.attempts(s) if t.record_id not in stored]
    if not attempts:
        return Jobs()
    try:
        scheduler = scheduler or scheduler_of(site_of_sweep(store, sweep))
        queue = scheduler.queue(sorted({t.submission.name for t in attempts}))
    except (NoAnswer, SteptimeError) as problem:
        return Jobs({"unknown": len(attempts)}, [str(problem)])
    states: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for attempt in attempts:
        queued = queue.get(attempt.job)
        state = "ended" if queued is None or queued.ended else queued.state.lower()
        states[state] += 1
        if queued and (why := queued.waiting_words(attempt.submission.wanted)):
            notes[why] += 1
    return Jobs(dict(states), [f"{note} ({number})" if number > 1 else note for note, number in notes.items()])

"""Submitting so that nothing is lost and nothing is submitted twice, whenever the submitting process dies."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from steptime.schedulers.journal import Submission, SubmissionJournal
from steptime.schedulers.scheduler import Full, NoAnswer, Refused, Scheduler

LOOK_AGAIN_SECONDS = 1.0
IN_FLIGHT_SECONDS = 90.0
"""a submission of another host may take so long to be refused or accepted"""
ASK_AGAIN_SECONDS = 5.0


@dataclass(frozen=True)
class Submitter:
    journal: SubmissionJournal
    scheduler: Scheduler
    poll_seconds: float
    say: Callable[[str], None]
    pause: Callable[[float], None]

    def submit(self, submission: Submission) -> bool:
        """False if the submission is abandoned, so that its cases need another. Raises Full, when it is abandoned too."""
        try:
            job = self.scheduler.submit(self.journal.sweep_folder / submission.folder, submission.name)
        except NoAnswer as problem:
            self.say(f"{self.scheduler.script.submit_command}: {problem}")
            return bool(self.look_up(submission))
        except Full as problem:
            self.journal.abandon(submission, str(problem))
            raise
        except Refused as problem:
            self.journal.refuse(submission, str(problem))
            return True
        self.journal.accept(submission, job)
        return True

    def look_up(self, submission: Submission) -> str:
        """The job of a submission of which only the intent is known; if there is none, the submission is abandoned."""
        self._wait_for_another_host(submission)
        for last in (False, True):
            job = self.journal.job(submission) or self._find(submission)
            if job:
                self.journal.accept(submission, job)
                return job
            if not last:
                self.pause(LOOK_AGAIN_SECONDS)
        self.journal.abandon(submission, f"{self.scheduler.name} knows no job of this name")
        if late := self._find(submission):
            self.scheduler.cancel([late])
        return ""

    def _wait_for_another_host(self, submission: Submission) -> None:
        age = (datetime.now(UTC) - datetime.fromisoformat(submission.created)).total_seconds()
        if submission.host != platform.node() and age < IN_FLIGHT_SECONDS:
            self.say(f"{submission.host} may still be submitting; waiting {IN_FLIGHT_SECONDS - age:.0f} s")
            self.pause(IN_FLIGHT_SECONDS - age)

    def _find(self, submission: Submission) -> str:
        """Asks until the scheduler answers."""
        while True:
            try:
                return self.scheduler.find(submission.name, datetime.fromisoformat(submission.created))
            except NoAnswer as problem:
                self.say(f"{self.scheduler.name} does not answer ({problem}); asking again")
                self.pause(min(self.poll_seconds, ASK_AGAIN_SECONDS))

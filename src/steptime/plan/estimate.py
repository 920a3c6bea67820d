"""Estimates how long cases take, from records of this machine: of the same case, else of a related one, else from the budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from steptime.core.schema import Budget, Case, Record, Status, case_key

START_SECONDS = 5.0
"""start-up of a worker that has no record yet: interpreter, framework, model"""

SAME, RELATED, FAILED, BUDGET = "same", "related", "failed", "budget"


class _Known(NamedTuple):
    batch: int
    start_seconds: float
    step_seconds: float
    """mean"""
    measured_seconds: float
    """all steps"""
    budget: Budget


@dataclass
class Estimate:
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    """by kind of estimate: the number of cases"""


class Estimator:
    """Learns from records; then takes cases one by one."""

    def __init__(self, records: Iterable[Record], machine_id: str) -> None:
        self._same: dict[str, _Known] = {}
        self._related: dict[tuple[object, ...], dict[int, _Known]] = {}
        self._failed: set[str] = set()
        for record in records:
            if record.machine and record.machine.id == machine_id:
                self._learn(record)
        self.total = Estimate(counts=dict.fromkeys((SAME, RELATED, FAILED, BUDGET), 0))

    def _learn(self, record: Record) -> None:
        case, key = record.case, case_key(record.case)
        if record.status == Status.OK and record.steps and record.resources and record.summary:
            steps = sum(record.steps.seconds)
            known = _Known(case.batch, record.resources.startup_seconds, record.summary.mean_seconds, steps, case.budget)
            self._same[key] = known
            self._related.setdefault(_relation(case), {})[case.batch] = known
        elif record.status == Status.UNSUPPORTED:
            self._failed.add(key)

    def add(self, case: Case) -> None:
        how, seconds = self._of(case)
        self.total.counts[how] += 1
        self.total.seconds += seconds

    def _of(self, case: Case) -> tuple[str, float]:
        related = self._related.get(_relation(case))
        if self._failed or related:
            key = case_key(case)
            if key in self._same:
                return SAME, _seconds(self._same[key], case)
            if key in self._failed:
                return FAILED, START_SECONDS
        if not related:
            return BUDGET, START_SECONDS + case.budget.max_seconds
        nearest = min(related, key=lambda batch: abs(batch - case.batch))
        return RELATED, _seconds(related[nearest], case)


def _relation(case: Case) -> tuple[object, ...]:
    return case.model, case.backend, case.phase, case.device


def _seconds(known: _Known, case: Case) -> float:
    """The time that it took before, scaled with the batch and limited by the case's own budget."""
    scale = case.batch / known.batch
    if case.budget == known.budget:
        measured = known.measured_seconds * scale
    else:
        measured = case.budget.max_steps * known.step_seconds * scale
    return known.start_seconds + min(measured, max(case.budget.max_seconds, known.step_seconds * scale))

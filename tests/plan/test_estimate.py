"""How long cases will take."""

from __future__ import annotations

from dataclasses import replace

from steptime.core.schema import Budget, Case, Machine, Record, Resources, Steps, Summary
from steptime.plan.estimate import BUDGET, FAILED, RELATED, SAME, START_SECONDS, Estimator

HERE = Machine("here", "h", "cpu", 1, 2, 2, 2.0, 1, 1, "linux", "6", "x86")
CASE = Case("mlp", "fake", 100)
STEPS = [0.5] * 20


def record(case: Case, status: str = "ok", machine: Machine = HERE) -> Record:
    summary = Summary(20, case.batch, 0.5, 200.0, 0, 0, 0.95, 0, 0, "", 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    return Record(
        "id", status, case, "2026-01-01",
        steps=Steps(STEPS, 0, "", "target"), summary=summary, resources=Resources(1, None, 2.0, 1, 1, 1, None), machine=machine,
    )  # fmt: skip


def estimate(case: Case, *records: Record) -> tuple[str, float]:
    estimator = Estimator(records, "here")
    estimator.add(case)
    (how,) = [how for how, count in estimator.total.counts.items() if count]
    return how, estimator.total.seconds


def test_the_same_case_takes_as_long_as_before():
    assert estimate(CASE, record(CASE)) == (SAME, 12.0)


def test_another_batch_is_scaled_from_the_nearest_within_the_budget():
    near, far = record(replace(CASE, batch=200)), record(replace(CASE, batch=1000))
    assert estimate(CASE, far, near) == (RELATED, 2.0 + 5.0)
    assert estimate(replace(CASE, batch=10_000), far) == (RELATED, 2.0 + 30.0)


def test_with_another_budget_the_steps_are_counted():
    short = replace(CASE, budget=Budget(max_steps=4))
    assert estimate(short, record(CASE)) == (RELATED, 2.0 + 2.0)


def test_without_records_the_budget_is_all_that_is_known():
    assert estimate(CASE) == (BUDGET, START_SECONDS + 30.0)
    assert estimate(CASE, record(replace(CASE, backend="null"))) == (BUDGET, START_SECONDS + 30.0)


def test_records_of_other_machines_say_nothing():
    assert estimate(CASE, record(CASE, machine=replace(HERE, id="there")))[0] == BUDGET


def test_what_was_unsupported_only_costs_its_start():
    assert estimate(CASE, record(CASE, "unsupported")) == (FAILED, START_SECONDS)

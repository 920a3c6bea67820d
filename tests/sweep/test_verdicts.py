from dataclasses import replace

import pytest

from steptime.core.schema import Case, Contention, Record
from steptime.sweep.verdicts import BatchLimits, best_of, runs_again

CASE = Case("mlp", "null", 8)
WHEN = "2026-01-01T00:00:00.000+00:00"


def record(identity, status="ok", verdict="clean", case=CASE):
    contention = Contention(verdict, "", 1.0, 1.0, 0.1, 0) if status == "ok" else None
    return Record(identity, status, case, WHEN, contention=contention)


@pytest.mark.parametrize(
    ("records", "counts"),
    [
        ([record("a", verdict="contended"), record("b", verdict="clean"), record("c", verdict="contended")], "b"),
        ([record("a"), record("b")], "b"),
        ([record("a", "crash"), record("b", verdict="contended")], "b"),
        ([record("a"), record("b", "crash")], "a"),
        ([record("a", "timeout"), record("b", "crash")], "b"),
        ([record("a", "crash"), record("b", "cancelled")], "a"),
    ],
)
def test_the_best_record_of_a_case_counts(records, counts):
    (best,) = best_of(records).values()
    assert best.id == counts


def test_a_case_that_was_only_cancelled_has_no_record_that_counts():
    assert best_of([record("a", "cancelled")]) == {}


@pytest.mark.parametrize(
    ("retry", "again"),
    [("", []), ("failed", ["crash"]), ("contended", ["crowd"]), ("all", ["good", "crowd", "crash"])],
)
def test_what_is_retried_is_what_was_asked_for(retry, again):
    records = [record("good"), record("crowd", verdict="contended"), record("crash", "crash")]
    assert [r.id for r in records if runs_again(r, retry)] == again


def test_larger_batches_of_the_same_configuration_are_hopeless_after_an_out_of_memory():
    limits = BatchLimits([record("a", "out_of_memory", case=replace(CASE, batch=64))])
    assert limits.too_large(replace(CASE, batch=128)) == 64
    assert limits.too_large(replace(CASE, batch=128, repeat=3)) == 64
    assert limits.too_large(replace(CASE, batch=64)) is None
    assert limits.too_large(replace(CASE, batch=128, precision="bf16")) is None
    assert limits.too_large(replace(CASE, batch=128, model_options={"layers": 2})) is None

from dataclasses import replace

import pytest

from steptime.machine.describe import describe
from steptime.schema import Case, Cost, Record, Resources, Steps
from steptime.stats.invariants import broken_invariant
from steptime.stats.summary import summarise

SECONDS = [0.1, 0.11, 0.1, 0.12]


def record():
    return Record(
        id="x",
        status="ok",
        case=Case("mlp", "null", 8),
        started="2026-01-01T00:00:00.000+00:00",
        steps=Steps(SECONDS, 0, "", "steps"),
        summary=summarise(SECONDS, 8),
        cost=Cost(1, 4, 4, 100.0, 1000.0, 2000.0, 0.5),
        resources=Resources(1000, None, 1.0, 1.0, 0.1, 0.1, None),
        machine=describe(),
    )


def test_a_good_record_breaks_nothing():
    assert broken_invariant(record()) == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: replace(r, summary=replace(r.summary, mean_speed=2 * r.summary.mean_speed)), "not the batch 8"),
        (lambda r: replace(r, summary=replace(r.summary, jitter=float("nan"))), "not finite"),
        (lambda r: replace(r, last_loss=float("inf")), "not finite"),
        (lambda r: replace(r, steps=replace(r.steps, seconds=[0.1, 0.0])), "clock"),
        (lambda r: replace(r, resources=replace(r.resources, peak_bytes=1 << 60)), "peak memory"),
        (lambda r: replace(r, cost=replace(r.cost, achieved_flops=2200.0)), "measured peak"),
        (lambda r: replace(r, cost=None), "needs"),
    ],
)
def test_each_broken_invariant_is_named(change, words):
    assert words in broken_invariant(change(record()))


def test_five_percent_above_the_peak_is_within_its_own_error():
    close = record()
    assert broken_invariant(replace(close, cost=replace(close.cost, achieved_flops=2099.0))) == ""

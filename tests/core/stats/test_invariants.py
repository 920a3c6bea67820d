from dataclasses import replace

import pytest

from steptime.core.machine.describe import describe
from steptime.core.schema import Case, Cost, Printed, Record, Resources, Source, Steps
from steptime.core.stats.invariants import broken_invariant
from steptime.core.stats.summary import summarise

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


def imported(**figures):
    source = Source("tool", "a.log", 7, "0" * 64)
    return Record(
        "y", "ok", Case("mlp", "tensorflow", 64, devices=2), "", origin="tool", printed=Printed(**figures), source=source
    )


def test_printed_figures_may_be_rounded_but_not_in_another_unit():
    assert broken_invariant(imported(mean_speed=1000.0, mean_seconds=0.128)) == ""
    assert broken_invariant(imported(mean_speed=1000.0, mean_seconds=0.13)) == ""
    found = broken_invariant(imported(mean_speed=1000.0, mean_seconds=128.0))
    assert found == "mean_speed x mean_time = 1000 x 128 = 128000, not the batch 128"
    assert "not the batch 128" in broken_invariant(imported(mean_speed=1000.0, mean_seconds=0.064))


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({}, "no figures"),
        ({"mean_speed": -1.0}, "mean_speed is -1.0"),
        ({"mean_speed": 0.0}, "must be positive"),
        ({"mean_seconds": float("nan")}, "mean_seconds is nan"),
        ({"mean_speed": float("inf")}, "mean_speed is inf"),
        ({"mean_speed": 1.0, "jitter": -0.1}, "zero or more"),
        ({"others": {"accuracy": float("nan")}}, "not finite"),
    ],
)
def test_figures_that_cannot_be_are_refused(figures, words):
    assert words in broken_invariant(imported(**figures))

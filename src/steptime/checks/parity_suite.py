"""The tests that every backend has to pass. `pytest --pyargs steptime.checks.parity_suite --parity-backend NAME` runs them.

A test module that says `from steptime.checks.parity_suite import *` has them too. The plugin (parity_plugin.py) gives
`subject`, one backend with one set of options, and `asked`, which remembers answers, since starting a framework takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from steptime.checks import parity_tolerances as limits
from steptime.checks.parity_plugin import Asked, Subject
from steptime.checks.parity_run import Answers
from steptime.core.parity.answer import DROPOUT
from steptime.core.schema import Precision

__all__ = [
    "test_dropout_keeps_its_share_scales_the_rest_and_obeys_the_seed",
    "test_other_ways_of_running_train_alike",
    "test_outputs_are_the_same_in_single_precision",
    "test_short_types_are_near_and_really_short",
    "test_the_family_computes_what_the_reference_computes",
    "test_the_optimizer_updates_as_the_reference_does",
]

Families = tuple[str, ...]

# One of each kind: convolution, batch normalisation, attention. Few of their rectifiers are opened or closed by rounding.
FEW = ("mnist_cnn", "resnet20", "llama")
SMALL = ("mnist_cnn", "llama", "miscellany")  # soon compiled
SHORT = ("mnist_cnn", "mlp", "resnet18")


def test_the_family_computes_what_the_reference_computes(
    subject: Subject, parity_family: str, parity_families: Families, asked: Asked, record_property: Callable[[str, object], None]
) -> None:
    """Outputs; after two steps the loss, all parameters, running statistics and outputs again. In the longest type it has."""
    record_property("backend", subject.name)
    record_property("family", parity_family)
    steps = 0 if not subject.trains else 2 if subject.longest == Precision.FP64 else 1
    figures = asked(subject, parity_families, subject.longest, steps)[parity_family]
    record_property("figures", json.dumps(figures))
    _same(figures, limits.limits_of(subject.backend, subject.longest))


@pytest.mark.parametrize("optimizer", ["momentum", "adam", "none"])
def test_the_optimizer_updates_as_the_reference_does(subject: Subject, optimizer: str, asked: Asked) -> None:
    if not subject.trains:
        pytest.skip(f"{subject.name} is for inference")
    steps = 3 if subject.longest == Precision.FP64 and optimizer not in subject.backend.looser else 1
    answers = asked(subject, FEW, subject.longest, steps, optimizer)
    _all_same(answers, limits.limits_of(subject.backend, subject.longest, optimizer))


def test_outputs_are_the_same_in_single_precision(
    subject: Subject, parity_family: str, parity_families: Families, asked: Asked
) -> None:
    if Precision.FP32 not in subject.backend.precisions or subject.longest == Precision.FP32:
        pytest.skip("compared already, or never")
    _same(asked(subject, parity_families, Precision.FP32, 0)[parity_family], limits.limits_of(subject.backend, Precision.FP32))


@pytest.mark.parametrize("precision", list(limits.SHORT))
def test_short_types_are_near_and_really_short(subject: Subject, precision: Precision, asked: Asked) -> None:
    if precision not in subject.backend.precisions:
        pytest.skip(f"{subject.name} has no {precision}")
    answers = asked(subject, SHORT, precision, 0)
    _all_same(answers, limits.limits_of(subject.backend, precision))
    exact = [name for name, figures in answers.items() if figures.get("outputs", 1.0) <= limits.LEAST_SHORT]
    assert not exact, f"{', '.join(exact)}: as exact as a longer type, so not computed in this one"


def test_other_ways_of_running_train_alike(subject: Subject, parity_way: dict[str, Any], asked: Asked) -> None:
    other = subject.with_options(parity_way)
    _all_same(asked(other, SMALL, Precision.FP32, 1 if subject.trains else 0), limits.limits_of(subject.backend, Precision.FP32))


def test_dropout_keeps_its_share_scales_the_rest_and_obeys_the_seed(subject: Subject, asked: Asked) -> None:
    if not subject.trains:
        pytest.skip(f"{subject.name} is for inference")
    _same(asked(subject, (DROPOUT,), Precision.FP32, 1)[DROPOUT], limits.DROPOUT)


def _all_same(answers: Answers, allowed: limits.Limits) -> None:
    """Of those that the framework can do, if there are any."""
    done = {name: figures for name, figures in answers.items() if "unsupported" not in figures}
    if not done:
        pytest.skip(f"unsupported: {next(iter(answers.values()))['unsupported']}")
    for name, figures in done.items():
        wrong = limits.objections(figures, allowed)
        assert not wrong, f"{name}: {'; '.join(wrong)}"


def _same(figures: dict[str, Any], allowed: limits.Limits) -> None:
    if "unsupported" in figures:
        pytest.skip(f"unsupported: {figures['unsupported']}")
    wrong = limits.objections(figures, allowed)
    assert not wrong, "; ".join(wrong)

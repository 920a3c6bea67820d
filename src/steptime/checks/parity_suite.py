"""The tests that every backend has to pass. `pytest --pyargs steptime.checks.parity_suite --parity-backend NAME` runs them.

A test module that says `from steptime.checks.parity_suite import *` has them too. The plugin (parity_plugin.py) gives
`candidate`, a backend with options, and `parity_figures`, which runs each question once: starting a framework takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from steptime.checks import parity_tolerances as limits
from steptime.checks.parity_plugin import Candidate, ParityFigures
from steptime.checks.parity_run import Answers
from steptime.core.parity.answer import DROPOUT
from steptime.core.schema import Precision

__all__ = [
    "test_dropout_keeps_its_share_scales_the_rest_and_obeys_the_seed",
    "test_narrow_types_are_close_and_really_narrow",
    "test_outputs_are_the_same_in_single_precision",
    "test_the_family_computes_what_the_reference_computes",
    "test_the_optimizer_updates_as_the_reference_does",
    "test_variants_train_alike",
]

Families = tuple[str, ...]

# One of each kind: convolution, batch normalisation, attention. Few of their rectifiers are opened or closed by rounding.
FEW = ("mnist_cnn", "resnet20", "llama")
SMALL = ("mnist_cnn", "llama", "miscellany")  # soon compiled
NARROW = ("mnist_cnn", "mlp", "resnet18")


def test_the_family_computes_what_the_reference_computes(
    candidate: Candidate,
    parity_family: str,
    parity_families: Families,
    parity_figures: ParityFigures,
    record_property: Callable[[str, object], None],
) -> None:
    """Outputs; after two steps the loss, all parameters, running statistics and outputs again. In the widest type it has."""
    record_property("backend", candidate.name)
    record_property("family", parity_family)
    steps = 0 if not candidate.trains else 2 if candidate.widest == Precision.FP64 else 1
    figures = parity_figures(candidate, parity_families, candidate.widest, steps)[parity_family]
    record_property("figures", json.dumps(figures))
    _same(figures, limits.limits_of(candidate.backend, candidate.widest))


@pytest.mark.parametrize("optimizer", ["momentum", "adam", "none"])
def test_the_optimizer_updates_as_the_reference_does(candidate: Candidate, optimizer: str, parity_figures: ParityFigures) -> None:
    if not candidate.trains:
        pytest.skip(f"{candidate.name} is for inference")
    steps = 3 if candidate.widest == Precision.FP64 and optimizer not in candidate.backend.tolerances else 1
    answers = parity_figures(candidate, FEW, candidate.widest, steps, optimizer)
    _all_same(answers, limits.limits_of(candidate.backend, candidate.widest, optimizer))


def test_outputs_are_the_same_in_single_precision(
    candidate: Candidate, parity_family: str, parity_families: Families, parity_figures: ParityFigures
) -> None:
    if Precision.FP32 not in candidate.backend.precisions or candidate.widest == Precision.FP32:
        pytest.skip("compared already, or never")
    _same(
        parity_figures(candidate, parity_families, Precision.FP32, 0)[parity_family],
        limits.limits_of(candidate.backend, Precision.FP32),
    )


@pytest.mark.parametrize("precision", list(limits.NARROW))
def test_narrow_types_are_close_and_really_narrow(
    candidate: Candidate, precision: Precision, parity_figures: ParityFigures
) -> None:
    if precision not in candidate.backend.precisions:
        pytest.skip(f"{candidate.name} has no {precision}")
    answers = parity_figures(candidate, NARROW, precision, 0)
    _all_same(answers, limits.limits_of(candidate.backend, precision))
    exact = [name for name, figures in answers.items() if figures.get("outputs", 1.0) <= limits.LEAST_NARROW]
    assert not exact, f"{', '.join(exact)}: as exact as a wider type, so not computed in this one"


def test_variants_train_alike(candidate: Candidate, parity_variant: dict[str, Any], parity_figures: ParityFigures) -> None:
    other = candidate.with_options(parity_variant)
    _all_same(
        parity_figures(other, SMALL, Precision.FP32, 1 if candidate.trains else 0),
        limits.limits_of(candidate.backend, Precision.FP32),
    )


def test_dropout_keeps_its_share_scales_the_rest_and_obeys_the_seed(candidate: Candidate, parity_figures: ParityFigures) -> None:
    if not candidate.trains:
        pytest.skip(f"{candidate.name} is for inference")
    _same(parity_figures(candidate, (DROPOUT,), Precision.FP32, 1)[DROPOUT], limits.DROPOUT)


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

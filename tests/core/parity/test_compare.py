"""The comparison catches a wrong operator, whichever it is and wherever it is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from steptime.checks.parity_tolerances import DOUBLE, objections
from steptime.core.backends.base import find
from steptime.core.backends.reference.backend import Reference, ReferenceProgram
from steptime.core.models.ops import LRN, Dropout
from steptime.core.parity import compare as comparison
from steptime.core.parity import dropout
from steptime.core.parity.answer import Question
from steptime.core.parity.compare import compare
from steptime.core.parity.families import covering, graph_of
from steptime.core.reference import network

SLIGHTLY = 1 + 1e-4
OPERATORS = [
    pytest.param(kind, marks=pytest.mark.real if kind is LRN else ())  # the only family with it is a large one
    for kind in sorted(network.KERNELS, key=lambda kind: kind.__name__)
    if kind is not Dropout
]
CHEAPEST = sorted(covering(), key=lambda name: graph_of(name).flops_forward)


def mutant(kind, forward_factor, input_factor, weight_factor):
    """The reference's kernels with one operator slightly wrong: in its output, or in what it sends back."""
    forward, backward = network.KERNELS[kind]

    def wrong_forward(*arguments):
        y, kept = forward(*arguments)
        return y * forward_factor, kept

    def wrong_backward(*arguments):
        to_inputs, to_weights = backward(*arguments)
        scaled = [None if g is None else g * input_factor for g in to_inputs]
        return scaled, {name: g * weight_factor for name, g in to_weights.items()}

    return {**network.KERNELS, kind: (wrong_forward, wrong_backward)}


class MutantProgram(ReferenceProgram):
    kernels = {}

    def _wrongly(self, act):
        right, network.KERNELS = network.KERNELS, self.kernels
        try:
            return act()
        finally:
            network.KERNELS = right

    def step(self):
        self._wrongly(super().step)

    def outputs(self):
        return self._wrongly(super().outputs)


class Mutant(Reference):
    name = "mutant"

    def build(self, *arguments):
        return MutantProgram(*arguments)


@pytest.fixture
def objection(monkeypatch):
    """objection(kernels, families) -> the first complaint of the proof about such a backend"""
    monkeypatch.setattr(comparison, "find", lambda name: Mutant() if name == "mutant" else find(name))

    def look(kernels, families):
        monkeypatch.setattr(MutantProgram, "kernels", kernels)
        question = Question("mutant", [])
        found = (objections(compare(graph_of(name), question.case(name), 2), DOUBLE) for name in families)
        return next(filter(None, found), [])

    return look


def families_with(kind):
    return [name for name in CHEAPEST if any(type(node.op) is kind for node in graph_of(name).nodes)]


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.__name__)
def test_a_wrong_output_is_caught(objection, kind):
    assert objection(mutant(kind, SLIGHTLY, 1, 1), families_with(kind))


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.__name__)
def test_wrong_gradients_are_caught(objection, kind):
    assert objection(mutant(kind, 1, SLIGHTLY, SLIGHTLY), families_with(kind))


def test_what_is_right_is_not_objected_to(objection):
    assert not objection(network.KERNELS, ["lenet" if "lenet" in CHEAPEST else CHEAPEST[0]])


def test_running_statistics_that_stay_behind_are_caught(objection):
    """Outputs in training mode do not use them: only the statistics themselves and later inference tell."""
    from steptime.core.models.ops import BatchNorm

    forward, backward = network.KERNELS[BatchNorm]

    def forgetful(op, weights, inputs, context):
        y, kept = forward(op, weights, inputs, context)
        context.updates.clear()
        return y, kept

    assert objection({**network.KERNELS, BatchNorm: (forgetful, backward)}, families_with(BatchNorm))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda y, mask: y * 0.7, "scale error"),
        (lambda y, mask: np.where(np.arange(y.size).reshape(y.shape) % 2, y, 0.0), "kept error"),
    ],
    ids=["not scaled", "drops too much"],
)
def test_wrong_dropout_is_caught(monkeypatch, change, complaint):
    from steptime.checks.parity_tolerances import DROPOUT

    forward, backward = network.KERNELS[Dropout]

    def wrong(op, weights, inputs, context):
        y, kept = forward(op, weights, inputs, context)
        return (change(y, kept), kept) if context.training else (y, kept)

    def wrong_backward(op, weights, kept, dy):
        (dx,), to_weights = backward(op, weights, kept, dy)
        return [change(dx, kept)], to_weights

    case = replace(Question("reference", []).case(), precision="fp64")
    assert not objections(dropout.dropout_figures(case), DROPOUT)
    monkeypatch.setitem(network.KERNELS, Dropout, (wrong, wrong_backward))
    assert any(complaint in each for each in objections(dropout.dropout_figures(case), DROPOUT))

"""How a question about a family in single precision is answered."""

import pytest

from steptime.checks.parity_tolerances import SINGLE, objections
from steptime.core.backends.base import find
from steptime.core.models.ops import Conv2d
from steptime.core.parity import compare as comparison
from steptime.core.parity.answer import Question, figures_of
from steptime.core.parity.compare import compare
from steptime.core.parity.families import OPENED, graph_of, smoothed
from tests.core.parity.test_compare import Mutant, MutantProgram, mutant

SMALLEST = "resnet50_v2"


def question(backend="reference"):
    return Question(backend, [SMALLEST], "fp32", 1)


@pytest.mark.parametrize("family", OPENED)
def test_smoothed_networks_have_no_rectifier_and_the_same_parameters(family):
    graph = graph_of(family)
    kinds = {node.op.kind for node in smoothed(graph).nodes if hasattr(node.op, "kind") and node is not graph.nodes[0]}
    assert "tanh" in kinds and not kinds & {"relu", "relu6"}
    assert smoothed(graph).parameters == graph.parameters


def test_rounding_alone_is_too_far_with_rectifiers_and_not_without():
    """The reference itself in single precision: no framework can be nearer than that."""
    assert objections(compare(graph_of(SMALLEST), question().case(SMALLEST), 1), SINGLE)
    assert not objections(figures_of(SMALLEST, question()), SINGLE)


@pytest.mark.parametrize("factors", [(1.02, 1, 1), (1, 1.02, 1), (1, 1, 1.02)], ids=["output", "gradient", "weight gradient"])
def test_a_wrong_operator_is_caught_without_rectifiers_too(monkeypatch, factors):
    monkeypatch.setattr(comparison, "find", lambda name: Mutant() if name == "mutant" else find(name))
    monkeypatch.setattr(MutantProgram, "kernels", mutant(Conv2d, *factors))
    assert objections(figures_of(SMALLEST, question("mutant")), SINGLE)

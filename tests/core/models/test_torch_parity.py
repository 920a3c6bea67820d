"""Sameness is proven, not claimed: PyTorch against the numpy reference for every family; test_parity has the rest of it."""

import pytest

from steptime.checks.parity_run import run_parity
from steptime.checks.parity_tolerances import limits_of, objections
from steptime.core.backends.base import find
from steptime.core.models import zoo
from steptime.core.parity.answer import Question
from steptime.core.parity.families import FAMILIES, REDUCED, model_of

FULL = ["bert_base", "densenet121", "gpt2_small", "inception3", "mobilenet_v2", "nasnet", "resnet50", "vit_b16"]

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def trained(torch_python):
    return run_parity(Question("pytorch", list(FAMILIES)), torch_python)


@pytest.fixture(scope="module")
def full(torch_python, run_script):
    return run_script(torch_python, "torch_parity.py", *FULL)


def test_every_family_is_compared():
    assert {zoo.find(model_of(name)).family for name in REDUCED} == {model.family for model in zoo.models().values()}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_trains_as_the_reference_does(trained, name):
    assert objections(trained[name], limits_of(find("pytorch"), "fp64")) == []


@pytest.mark.parametrize("name", FULL)
def test_outputs_agree_at_the_published_size(full, name):
    assert full[name] < 1e-4

"""Sameness is proven, not claimed: PyTorch against the numpy reference."""

import pytest

from steptime.models import zoo
from tests.models.reduced import REDUCED, model_of

FULL = ["bert_base", "densenet121", "gpt2_small", "inception3", "mobilenet_v2", "nasnet", "resnet50", "vit_b16"]

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def reduced(torch_python, run_script):
    return run_script(torch_python, "torch_parity.py", "reduced", *REDUCED)


@pytest.fixture(scope="module")
def full(torch_python, run_script):
    return run_script(torch_python, "torch_parity.py", "full", *FULL)


def test_every_family_is_compared():
    assert {zoo.find(model_of(name)).family for name in REDUCED} == {model.family for model in zoo.models().values()}


@pytest.mark.parametrize("name", REDUCED)
def test_outputs_agree_with_the_reference(reduced, name):
    assert reduced[name]["outputs"] < 1e-10
    assert reduced[name]["outputs_fp32"] < 1e-4


@pytest.mark.parametrize("name", REDUCED)
def test_loss_parameters_and_outputs_agree_after_two_steps(reduced, name):
    assert reduced[name]["loss"] < 1e-6
    assert reduced[name]["weights"] < 1e-6
    assert reduced[name]["outputs_after"] < 1e-6


@pytest.mark.parametrize("name", FULL)
def test_outputs_agree_at_the_published_size(full, name):
    assert full[name]["outputs"] < 1e-4

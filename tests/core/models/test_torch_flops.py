"""FLOPs against PyTorch's own counter, on the models as PyTorch builds them."""

import pytest

from steptime.core.models import zoo
from steptime.core.parity.families import REDUCED, model_of

# FlopCounterMode forgets the groups in the gradient of a grouped convolution's weights: it counts depthwise ones as full.
DEPTHWISE = {"efficientnet_b0", "mobilenet_v1", "mobilenet_v2", "nasnet", "nasnetlarge"}

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def counted(torch_python, run_script):
    return run_script(torch_python, "torch_flops.py")


@pytest.mark.parametrize("name", zoo.models())
def test_forward_flops_are_those_that_pytorch_counts(counted, name):
    found = counted["forward"][name]
    assert found["ours"] == pytest.approx(found["torch"], rel=0.01)


@pytest.mark.parametrize("name", [n for n in REDUCED if model_of(n) not in DEPTHWISE])
def test_training_flops_are_those_that_pytorch_counts(counted, name):
    found = counted["training"][name]
    assert found["ours"] == pytest.approx(found["torch"], rel=0.01)


@pytest.mark.parametrize("name", zoo.models())
def test_pytorch_trains_as_many_parameters_as_the_graph_has(counted, name):
    assert counted["forward"][name]["parameters"] == counted["forward"][name]["counted"]

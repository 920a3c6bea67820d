"""Our models against those of torchvision, timm and transformers, with the same weights."""

import pytest

# Those of the zoo that a package defines: alike by construction where they share code with one of these.
NAMES = [
    "alexnet_owt",
    "bert_base",
    "bert_base mlm",
    "densenet121",
    "efficientnet_b0",
    "gpt2_small",
    "inception3",
    "inception4",
    "inception_resnet_v2",
    "llama",
    "mobilenet_v1",
    "mobilenet_v2",
    "nasnetlarge",
    "resnet34",
    "resnet50",
    "resnet50_v2",
    "resnet200",
    "squeezenet",
    "vgg16",
    "vit_b16",
]

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def compared(zoo_python, run_script):
    return run_script(zoo_python, "package_parity.py", *NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_from_the_same_weights_agree(compared, name):
    assert compared[name]["spread"] > 0
    assert compared[name]["outputs"] < 1e-4

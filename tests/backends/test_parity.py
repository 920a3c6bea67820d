"""The same model is the same on every backend: outputs, losses and all parameters after training, against the oracle.

In double precision, where agreement can be demanded to many digits: single precision differs by rounding, which
batch normalisation over a few samples amplifies beyond any honest tolerance within three steps.
"""

import subprocess

import numpy as np
import pytest

from steptime.launch.pack import put_worker
from steptime.models import zoo
from steptime.schema import Case, Job, to_json
from tests.models.reduced import REDUCED, model_of

SMALL = {
    "mnist_cnn": {},
    "lenet": {},
    "mlp": {"layers": 8, "width": 64},
    "alexnet_conv": {"image": 95},
    "resnet50": {"image": 64, "width": 16, "classes": 10},
}
STEPS = 3


def computed(python, tmp_path, case):
    folder = tmp_path / f"{case.backend}-{case.precision}-{case.optimizer}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    (folder / "job.json").write_text(to_json(Job("parity", case, kind="parity", parity_steps=STEPS)))
    done = subprocess.run([python, put_worker(folder, tmp_path), folder], capture_output=True, text=True, timeout=300)
    assert (folder / "parity.npz").exists(), done.stderr + done.stdout
    return dict(np.load(folder / "parity.npz"))


def agree(ours, theirs, tolerance):
    for name, array in ours.items():
        scale = max(float(np.abs(array).max()), 1e-3)
        difference = float(np.abs(array - theirs[name]).max()) / scale
        assert difference <= tolerance, f"{name} differs by {difference:.2g} of its largest value"


@pytest.mark.real
@pytest.mark.parametrize("model", SMALL)
@pytest.mark.parametrize(
    ("layout", "optimizer"), [("channels_last", "sgd"), ("contiguous", "sgd"), ("auto", "momentum"), ("auto", "adam")]
)
def test_pytorch_trains_as_the_reference_does(torch_python, tmp_path, model, layout, optimizer):
    import sys

    rate = zoo.find(model).learning_rate if model == "alexnet_conv" else 1e-3
    shared = {"precision": "fp64", "optimizer": optimizer, "learning_rate": rate, "threads": 2, "model_options": SMALL[model]}
    reference = computed(sys.executable, tmp_path, Case(model, "reference", 2, **shared))
    pytorch = computed(torch_python, tmp_path, Case(model, "pytorch", 2, backend_options={"layout": layout}, **shared))
    agree({"outputs": reference["outputs"]}, pytorch, 1e-10)
    agree(reference, pytorch, 1e-6)
    assert len(reference["losses"]) == STEPS


@pytest.mark.real
@pytest.mark.parametrize("model", SMALL)
def test_pytorch_gives_the_same_outputs_in_single_precision(torch_python, tmp_path, model):
    import sys

    shared = {"precision": "fp32", "threads": 2, "model_options": SMALL[model], "optimizer": "none"}
    reference = computed(sys.executable, tmp_path, Case(model, "reference", 4, **shared))
    pytorch = computed(torch_python, tmp_path, Case(model, "pytorch", 4, **shared))
    agree({"outputs": reference["outputs"]}, pytorch, 1e-4)


def test_the_other_families_are_compared_with_the_models():
    """In tests/models, many in one process; here a few take the whole way through the worker."""
    assert set(SMALL) < {model_of(name) for name in REDUCED}

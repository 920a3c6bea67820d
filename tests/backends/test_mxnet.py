"""MXNet against the numpy reference, and real runs as a user makes them."""

import pytest

from steptime.backends._mxnet_layers import TABLE
from steptime.backends.base import find
from steptime.models.zoo import models
from steptime.oracle.network import KERNELS
from tests.conftest import framework_python
from tests.models.reduced import REDUCED, model_of

real = pytest.mark.real

# One of each kind of layer: convolution, batch normalisation, depthwise, embedding and attention, tied weights.
FEW = ["mnist_cnn", "resnet20", "mobilenet_v2", "gpt2_small", "llama"]
# In single precision a rectifier may open or close by rounding, which a few samples do not average out: smooth ones.
SMOOTH = ["mnist_cnn", "resnet20", "efficientnet_b0", "gpt2_small", "llama"]
QUICK = ["--max-seconds", "2", "--no-wait", "--threads", "1"]


@pytest.fixture(scope="session")
def mxnet_python():
    return framework_python("mxnet")


@pytest.fixture(scope="module")
def double(mxnet_python, parity):
    return parity(mxnet_python, "mxnet", "fp64", 2, "sgd", list(REDUCED))


@pytest.fixture(scope="module")
def single(mxnet_python, parity):
    return parity(mxnet_python, "mxnet", "fp32", 0, "sgd", list(REDUCED))


@pytest.fixture(scope="module")
def narrow(mxnet_python, parity):
    return parity(mxnet_python, "mxnet", "bf16", 0, "sgd", list(REDUCED))


def test_every_family_is_compared():
    assert {models()[model_of(name)].family for name in REDUCED} == {model.family for model in models().values()}


@real
@pytest.mark.parametrize("name", REDUCED)
def test_outputs_losses_and_parameters_agree_with_the_reference(double, name):
    """Not to more digits: learning rates, decays, epsilons and statistics are single precision inside MXNet's operators."""
    found = double[name]
    assert found["outputs"] < 1e-6
    assert found["loss"] < 1e-6
    assert max(found[key] for key in ("weights", "statistics", "outputs_after")) < 1e-4


@real
@pytest.mark.parametrize("name", REDUCED)
def test_outputs_agree_in_single_precision(single, name):
    assert single[name]["outputs"] < 1e-4


@real
@pytest.mark.parametrize("name", REDUCED)
def test_bf16_is_bf16_or_is_refused_with_the_reason(narrow, name):
    found = narrow[name]
    if "unsupported" in found:
        assert "mixed precision does not take this model" in found["unsupported"]
    else:
        assert 1e-3 < found["outputs"] < 0.1  # as near as bf16 can be, and not nearer: that would be another type


@real
@pytest.mark.parametrize(
    ("precision", "optimizer", "mode", "names"),
    [
        ("fp64", "momentum", "hybrid", FEW),
        ("fp64", "adam", "hybrid", FEW),
        ("fp64", "none", "hybrid", ["mnist_cnn", "resnet20"]),
        ("fp64", "sgd", "eager", FEW),
        ("fp32", "sgd", "hybrid", SMOOTH),
    ],
)
def test_every_optimizer_and_way_of_running_trains_alike(mxnet_python, parity, precision, optimizer, mode, names):
    """In single precision after one step, whose rounding nothing has amplified yet: this is where oneDNN's kernels run."""
    figures = parity(mxnet_python, f"mxnet:compile={mode}", precision, 2 if precision == "fp64" else 1, optimizer, names)
    limits = {"outputs": 1e-4, "loss": 1e-4, "statistics": 1e-3, "weights": 1e-2}
    if precision == "fp64":
        limits = {"outputs": 1e-6, "loss": 1e-6, "statistics": 1e-5, "weights": 1e-4 if optimizer == "adam" else 1e-5}
    for name, found in figures.items():
        for key, limit in limits.items():
            assert found[key] < limit, f"{name}: {key}"


@real
@pytest.mark.parametrize("mode", ["hybrid", "eager"])
def test_dropout_keeps_and_scales_and_obeys_the_seed(mxnet_python, dropout_statistics, mode):
    found = dropout_statistics(mxnet_python, f"mxnet:compile={mode}")
    assert found["kept"] == pytest.approx(found["wanted_kept"], abs=0.02)
    assert found["scale"] == pytest.approx(1 / found["wanted_kept"], rel=1e-3)
    assert found["scale_spread"] < 1e-2
    assert found["steps_differ"] and found["repeatable"] and found["seed_matters"]


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


@pytest.fixture
def run(steptime, mxnet_python):
    def call(*arguments):
        return steptime("run", *arguments, "-B", "mxnet", "--python", mxnet_python, *QUICK, "--json", timeout=300)

    return call


@real
def test_training_and_inference_give_trustworthy_records(run):
    done = run("mnist_cnn", "--batch", "20", "--full")
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        software = record["software"]
        assert software["framework"] == "mxnet" and software["framework_version"] == "1.9.1"
        assert software["settings"]["products"] == "float32"
        assert 0 < record["cost"]["limit_share"] <= 1.05
        assert record["resources"]["compile_seconds"] > 0


@real
def test_a_fresh_process_and_eager_mode_run_too(run):
    for extra in (["--fresh"], ["-b", "compile=eager"]):
        done = run("mlp", "-m", "width=64", "-n", "8", *extra)
        assert {row["status"] for row in done.json} == {"ok"}, done.json


@real
@pytest.mark.parametrize(("precision", "products"), [("bf16", "bfloat16"), ("fp64", "float64")])
def test_other_precisions_run_in_the_type_that_the_record_says(run, precision, products):
    done = run("mlp", "-m", "width=64", "-n", "8", "--precision", precision, "--full")
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        assert record["software"]["settings"]["products"] == products


@real
def test_half_precision_and_gpus_are_unsupported_with_the_reason(run):
    (row,) = run("mlp", "--phase", "inference", "--precision", "fp16").json
    assert row["status"] == "unsupported" and "FP16 gemm is not implemented" in row["message"]
    (row,) = run("mlp", "--phase", "inference", "--device", "cuda").json
    assert row["status"] == "ok" or (row["status"] == "unsupported" and "CUDA" in row["message"])


@real
def test_an_unknown_way_of_running_lists_the_known_ones(run):
    done = run("mlp", "--phase", "inference", "-b", "compile=fast")
    assert done.code != 0
    assert "eager, hybrid" in done.out + done.err


@real
def test_doctor_is_green(steptime, mxnet_python):
    done = steptime("doctor", "mxnet", "--python", mxnet_python, "--json", timeout=300)
    assert done.code == 0 and done.json[0]["works"] is True


def test_options_are_what_the_documentation_says():
    assert find("mxnet").options == {"compile": "hybrid"}

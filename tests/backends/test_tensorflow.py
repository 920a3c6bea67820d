"""TensorFlow against the numpy reference, and real runs as a user makes them."""

import pytest

from steptime.backends._tf_layers import TABLE
from steptime.backends.base import find
from steptime.models.zoo import models
from steptime.oracle.network import KERNELS
from tests.models.reduced import REDUCED, model_of

pytestmark = pytest.mark.real

# One of each kind of layer: convolution, batch normalisation, depthwise, embedding and attention, tied weights.
FEW = ["mnist_cnn", "resnet20", "mobilenet_v2", "gpt2_small", "llama"]
# In single precision a rectifier may open or close by rounding, which a few samples do not average out: smooth ones.
SMOOTH = ["mnist_cnn", "resnet20", "efficientnet_b0", "gpt2_small", "llama"]
VARIANTS = {
    ("fp64", "momentum", "graph"): FEW,
    ("fp64", "adam", "graph"): FEW,
    ("fp64", "none", "graph"): ["mnist_cnn", "resnet20"],
    ("fp32", "sgd", "graph"): SMOOTH,
    ("fp32", "sgd", "eager"): ["mnist_cnn", "resnet20", "llama"],
    ("fp32", "sgd", "xla"): ["mnist_cnn", "resnet20", "llama"],
}
QUICK = ["--max-seconds", "2", "--no-wait"]


@pytest.fixture(scope="module")
def double(tensorflow_python, parity):
    return parity(tensorflow_python, "tensorflow", "fp64", 2, "sgd", list(REDUCED))


@pytest.fixture(scope="module")
def single(tensorflow_python, parity):
    return parity(tensorflow_python, "tensorflow", "fp32", 0, "sgd", list(REDUCED))


def test_every_family_is_compared():
    assert {models()[model_of(name)].family for name in REDUCED} == {model.family for model in models().values()}


@pytest.mark.parametrize("name", REDUCED)
def test_outputs_losses_and_parameters_agree_with_the_reference(double, name):
    found = double[name]
    assert found["outputs"] < 1e-10
    assert max(found[key] for key in ("loss", "weights", "statistics", "outputs_after")) < 1e-6


@pytest.mark.parametrize("name", REDUCED)
def test_outputs_agree_in_single_precision(single, name):
    assert single[name]["outputs"] < 1e-4


@pytest.mark.parametrize(("precision", "optimizer", "mode"), VARIANTS)
def test_every_optimizer_and_way_of_compiling_trains_alike(tensorflow_python, parity, precision, optimizer, mode):
    """In single precision after one step, whose rounding nothing has amplified yet: this is where fused kernels run."""
    steps, backend = (2 if precision == "fp64" else 1), f"tensorflow:compile={mode}"
    figures = parity(tensorflow_python, backend, precision, steps, optimizer, VARIANTS[precision, optimizer, mode])
    limits = {"outputs": 1e-4, "loss": 1e-4, "statistics": 1e-3, "weights": 1e-2}
    if precision == "fp64":
        # Adam divides a gradient by its own size: where it is nothing but rounding, so is the update.
        limits = {"outputs": 1e-10, "loss": 1e-6, "statistics": 1e-6, "weights": 1e-5 if optimizer == "adam" else 1e-6}
    for name, found in figures.items():
        for key, limit in limits.items():
            assert found[key] < limit, f"{name}: {key}"


@pytest.mark.parametrize("mode", ["graph", "eager", "xla"])
def test_dropout_keeps_and_scales_and_obeys_the_seed(tensorflow_python, dropout_statistics, mode):
    found = dropout_statistics(tensorflow_python, f"tensorflow:compile={mode}")
    assert found["kept"] == pytest.approx(found["wanted_kept"], abs=0.02)
    assert found["scale"] == pytest.approx(1 / found["wanted_kept"], rel=1e-3)
    assert found["scale_spread"] < 1e-2
    assert found["steps_differ"] and found["repeatable"] and found["seed_matters"]


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


@pytest.fixture
def run(steptime, tensorflow_python):
    def call(*arguments):
        return steptime("run", *arguments, "-B", "tensorflow", "--python", tensorflow_python, *QUICK, "--json", timeout=300)

    return call


def test_training_and_inference_give_trustworthy_records(run):
    done = run("mnist_cnn", "--batch", "50", "--full")
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        software = record["software"]
        assert software["framework"] == "tensorflow" and software["framework_version"].startswith("2.")
        assert software["threads"] == record["case"]["threads"]
        assert software["settings"]["products"] == "float32"
        assert 0 < record["cost"]["limit_share"] <= 1.05
        assert record["resources"]["compile_seconds"] > 0


@pytest.mark.parametrize(("precision", "products"), [("bf16", "bfloat16"), ("fp16", "float16"), ("fp64", "float64")])
def test_other_precisions_run_in_the_type_that_the_record_says(run, precision, products):
    done = run("mlp", "-m", "width=64", "-n", "8", "--precision", precision, "--full")
    for record in done.json:
        assert record["status"] in ("ok", "unsupported"), record["message"]
        if record["status"] == "ok":
            assert record["software"]["settings"]["products"] == products
            mixed = record["case"]["phase"] == "training" and precision != "fp64"
            assert record["software"]["settings"]["variables"] == ("float32" if mixed else products)


def test_what_only_a_gpu_has_is_unsupported_here(run):
    for extra in (["--precision", "tf32"], ["--device", "cuda"]):
        (row,) = run("mlp", "--phase", "inference", *extra).json
        if row["status"] != "ok":
            assert row["status"] == "unsupported" and "CUDA" in row["message"]


def test_an_unknown_way_of_compiling_lists_the_known_ones(run):
    done = run("mlp", "--phase", "inference", "-b", "compile=fast")
    assert done.code != 0
    assert "eager, graph, xla" in done.out + done.err


def test_options_are_what_the_documentation_says():
    assert find("tensorflow").options == {"compile": "graph"}

"""TensorFlow against the numpy reference, and real runs as a user makes them."""

import pytest

from steptime.backends.base import find
from steptime.models.zoo import models
from tests.models.reduced import REDUCED, model_of

pytestmark = pytest.mark.real

# One of each kind of layer: convolution, batch normalisation, depthwise, embedding and attention, tied weights.
FEW = ["mnist_cnn", "resnet20", "mobilenet_v2", "gpt2_small", "llama"]
QUICK = ["--max-seconds", "2", "--no-wait"]


@pytest.fixture(scope="module")
def double(tensorflow_python, parity):
    return parity(tensorflow_python, "tensorflow", "fp64", 2, "sgd", list(REDUCED))


@pytest.fixture(scope="module")
def single(tensorflow_python, parity):
    return parity(tensorflow_python, "tensorflow", "fp32", 0, "sgd", list(REDUCED))


@pytest.fixture(scope="module", params=["fp64 momentum", "fp64 adam", "fp64 none", "fp32 sgd", "xla fp32 sgd", "eager fp32 sgd"])
def variants(request, tensorflow_python, parity):
    """One process for each; in single precision a single step, whose rounding nothing has amplified yet."""
    *mode, precision, optimizer = request.param.split()
    backend = f"tensorflow:compile={mode[0]}" if mode else "tensorflow"
    steps = 2 if precision == "fp64" else 1
    return precision, parity(tensorflow_python, backend, precision, steps, optimizer, FEW)


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


@pytest.mark.parametrize("name", FEW)
def test_every_optimizer_and_way_of_compiling_trains_alike(variants, name):
    precision, figures = variants
    found = figures[name]
    for key, limit in (("outputs", 1e-4), ("loss", 1e-4), ("statistics", 1e-3), ("weights", 1e-2)):
        assert found[key] < (1e-6 if precision == "fp64" else limit), key


@pytest.mark.parametrize("mode", ["graph", "eager", "xla"])
def test_dropout_keeps_and_scales_and_obeys_the_seed(tensorflow_python, dropout_statistics, mode):
    found = dropout_statistics(tensorflow_python, f"tensorflow:compile={mode}")
    assert found["kept"] == pytest.approx(found["wanted_kept"], abs=0.02)
    assert found["scale"] == pytest.approx(1 / found["wanted_kept"], rel=1e-3)
    assert found["scale_spread"] < 1e-2
    assert found["steps_differ"] and found["repeatable"] and found["seed_matters"]


def test_an_operator_that_it_lacks_is_named():
    from steptime.backends._tf_layers import TABLE
    from steptime.oracle.network import KERNELS

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
    assert "graph, eager, xla" in done.out + done.err


def test_options_are_what_the_documentation_says():
    assert find("tensorflow").options == {"compile": "graph"}

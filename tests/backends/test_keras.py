"""Keras on each of its engines against the numpy reference, and a real run as a user makes it."""

import pytest

from steptime.backends._keras_layers import TABLE
from steptime.oracle.network import KERNELS
from tests.conftest import framework_python
from tests.models.reduced import REDUCED

pytestmark = pytest.mark.real

# One of each kind of layer, whose rounding a few samples do not amplify.
SMOOTH = ["mnist_cnn", "resnet20", "gpt2_small", "llama"]


@pytest.fixture(scope="module")
def keras_python():
    return framework_python("keras")


@pytest.fixture(scope="module")
def double(keras_python, parity):
    return parity(keras_python, "keras:compile=graph", "fp64", 2, "sgd", list(REDUCED))


@pytest.mark.parametrize("name", REDUCED)
def test_outputs_losses_and_parameters_agree_with_the_reference(double, name):
    found = double[name]
    assert found["outputs"] < 1e-7, "tf.nn.gelu, which Keras calls, has the constants of single precision"
    assert max(found[key] for key in ("loss", "weights", "statistics", "outputs_after")) < 1e-6


@pytest.mark.parametrize(("optimizer", "steps", "limit"), [("momentum", 2, 1e-6), ("adam", 1, 1e-4)])
def test_optimizers_are_those_of_the_reference(keras_python, parity, optimizer, steps, limit):
    """Keras rounds Adam's decays to single precision; a second step turns that into other signs of gradients near zero."""
    figures = parity(keras_python, "keras:compile=graph", "fp64", steps, optimizer, ["mnist_cnn", "resnet20"])
    for name, found in figures.items():
        assert max(found[key] for key in ("loss", "weights", "statistics")) < limit, name


@pytest.mark.parametrize(("engine", "models"), [("tensorflow", SMOOTH), ("torch", SMOOTH), ("jax", ["mnist_cnn", "llama"])])
def test_every_engine_trains_alike_in_single_precision(keras_python, parity, engine, models):
    """With what Keras compiles by default: XLA on TensorFlow and JAX, nothing on torch."""
    figures = parity(keras_python, f"keras:engine={engine}", "fp32", 1, "sgd", models)
    for name, found in figures.items():
        for key, limit in {"outputs": 1e-4, "loss": 1e-4, "statistics": 1e-3, "weights": 1e-2}.items():
            assert found[key] < limit, f"{name}: {key}"


@pytest.mark.parametrize("engine", ["torch", "jax"])
def test_double_precision_that_would_be_single_is_unsupported(keras_python, parity, engine):
    found = parity(keras_python, f"keras:engine={engine}", "fp64", 1, "sgd", ["mlp"])
    assert "single precision" in found["mlp"]["unsupported"]


def test_dropout_keeps_and_scales_and_obeys_the_seed(keras_python, dropout_statistics):
    found = dropout_statistics(keras_python, "keras:compile=graph")
    assert found["kept"] == pytest.approx(found["wanted_kept"], abs=0.02)
    assert found["scale"] == pytest.approx(1 / found["wanted_kept"], rel=1e-3)
    assert found["steps_differ"] and found["repeatable"] and found["seed_matters"]


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


@pytest.mark.parametrize("engine", ["tensorflow", "torch"])
def test_training_and_inference_give_trustworthy_records(steptime, keras_python, engine):
    options = ["-B", "keras", "-b", f"engine={engine}", "--python", keras_python, "--max-seconds", "2", "--no-wait"]
    done = steptime("run", "mlp", "-m", "width=64", "-n", "8", *options, "--json", "--full", timeout=300)
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        assert record["software"]["framework"] == "keras"
        assert record["software"]["settings"]["engine"] == engine
        assert record["software"]["threads"] == record["case"]["threads"]

"""Keras as a user runs it; that it computes what the reference computes is shown in test_parity."""

import pytest

from steptime.core.backends.keras.layers import TABLE
from steptime.core.reference.network import KERNELS
from tests.conftest import framework_python

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def keras_python():
    return framework_python("keras")


@pytest.mark.parametrize("engine", ["torch", "jax"])
def test_double_precision_that_would_be_single_is_unsupported(keras_python, parity, engine):
    found = parity(keras_python, f"keras:engine={engine}", "fp64", 1, "sgd", ["mlp"])
    assert "single precision" in found["mlp"]["unsupported"]


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


@pytest.mark.parametrize("engine", ["tensorflow", "torch"])
def test_training_and_inference_give_trustworthy_records(steptime, keras_python, engine):
    options = ["-B", "keras", "-b", f"engine={engine}", "--python", keras_python, "--max-seconds", "2"]
    options += ["--no-wait", "--contended-rounds", "0"]
    done = steptime("run", "mlp", "-m", "width=64", "-n", "8", *options, "--json", "--full", timeout=300)
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        assert record["software"]["framework"] == "keras"
        assert record["software"]["settings"]["engine"] == engine
        assert record["software"]["threads"] == record["case"]["threads"]

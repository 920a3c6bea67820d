"""ONNX Runtime computes what the oracle computes, and runs as a user runs it."""

import pytest

pytestmark = pytest.mark.real
# A contended case is measured again: the last row counts.
QUICK = ["--max-seconds", "2", "--no-wait", "--threads", "1"]


@pytest.fixture
def run(steptime, onnxruntime_python):
    def call(*arguments):
        options = ["--backend", "onnxruntime", "--python", onnxruntime_python, *QUICK, "--json"]
        return steptime("run", *arguments, *options, timeout=300)

    return call


def test_every_family_has_the_outputs_of_the_reference(onnxruntime_python, deviations):
    found = deviations(onnxruntime_python, "onnxruntime", "fp32", "0", "sgd", "all")
    assert len(found) >= 35
    for model, distances in found.items():
        assert distances["outputs"] <= 1e-4, model


def test_eight_bits_are_near_the_reference(onnxruntime_python, deviations):
    """Ten percent of the largest output: what 8 bits leave of a deep network with random weights."""
    found = deviations(onnxruntime_python, "onnxruntime", "int8", "0", "sgd", "mnist_cnn", "mlp", "resnet18")
    for model, distances in found.items():
        assert 1e-5 < distances["outputs"] <= 0.1, model


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_inference_gives_a_trustworthy_record(run, precision):
    *_, row = run("mnist_cnn", "--batch", "20", "--phase", "inference", "--precision", precision).json
    assert row["status"] == "ok", row["message"]
    assert row["framework"] == "onnxruntime"
    assert row["ci"][0] <= row["mean_speed"] <= row["ci"][1]


def test_what_it_cannot_do_is_unsupported_with_the_reason(run):
    for extra, reason in (
        (["--phase", "training"], "inference only"),
        (["--phase", "inference", "--precision", "fp16"], "fp16"),
        (["--phase", "inference", "--device", "cuda"], "CUDA"),
    ):
        *_, row = run("mlp", *extra).json
        assert row["status"] == "unsupported"
        assert reason in row["message"]

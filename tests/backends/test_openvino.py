"""OpenVINO computes what the oracle computes, in the precision that was asked for."""

import pytest

pytestmark = pytest.mark.real
# A contended case is measured again: the last row counts.
QUICK = ["--max-seconds", "2", "--no-wait", "--threads", "1"]


@pytest.fixture
def run(steptime, openvino_python):
    def call(*arguments):
        options = ["--backend", "openvino", "--python", openvino_python, *QUICK, "--json"]
        return steptime("run", *arguments, *options, timeout=300)

    return call


def test_every_family_has_the_outputs_of_the_reference(openvino_python, deviations):
    """Single precision to 1e-4: bfloat16, which OpenVINO takes when it is not told, would be a hundred times off."""
    found = deviations(openvino_python, "openvino", "fp32", "0", "sgd", "all")
    assert len(found) >= 35
    for model, distances in found.items():
        assert distances["outputs"] <= 1e-4, model


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_inference_gives_a_trustworthy_record_or_says_why_not(run, precision):
    *_, row = run("mnist_cnn", "--batch", "20", "--phase", "inference", "--precision", precision).json
    if precision != "fp32" and row["status"] == "unsupported":
        assert "on this device" in row["message"]
        return
    assert row["status"] == "ok", row["message"]
    assert row["framework"] == "openvino"
    assert row["precision"] == precision


def test_what_it_cannot_do_is_unsupported_with_the_reason(run):
    for extra, reason in ((["--phase", "training"], "inference only"), (["--phase", "inference", "--precision", "int8"], "nncf")):
        *_, row = run("mlp", *extra).json
        assert row["status"] == "unsupported"
        assert reason in row["message"]

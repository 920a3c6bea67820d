"""OpenVINO as a user runs it; that it computes what the reference computes is shown in test_parity."""

import pytest

pytestmark = pytest.mark.real


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16", "int8"])
def test_inference_gives_a_trustworthy_record_or_says_why_not(run, precision):
    (row,) = run("mnist_cnn", "--batch", "20", "--phase", "inference", "--precision", precision).json
    if precision != "fp32" and row["status"] == "unsupported":
        assert "on this device" in row["message"]
        return
    assert row["status"] == "ok", row["message"]
    assert row["framework"] == "openvino"
    assert row["precision"] == precision


def test_what_it_cannot_do_is_unsupported_with_the_reason(run):
    (row,) = run("mlp", "--phase", "training").json
    assert row["status"] == "unsupported"
    assert "inference only" in row["message"]

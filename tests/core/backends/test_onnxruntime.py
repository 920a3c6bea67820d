"""ONNX Runtime as a user runs it; that it computes what the reference computes is shown in test_parity."""

import pytest

pytestmark = pytest.mark.real


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_inference_gives_a_trustworthy_record(run, precision):
    (row,) = run("mnist_cnn", "--batch", "20", "--phase", "inference", "--precision", precision).json
    assert row["status"] == "ok", row["message"]
    assert row["framework"] == "onnxruntime"
    assert row["ci"][0] <= row["mean_speed"] <= row["ci"][1]


def test_what_it_cannot_do_is_unsupported_with_the_reason(run):
    for extra, reason in (
        (["--phase", "training"], "inference only"),
        (["--phase", "inference", "--precision", "fp16"], "fp16"),
        (["--phase", "inference", "--device", "cuda"], "CUDA"),
    ):
        (row,) = run("mlp", *extra).json
        assert row["status"] == "unsupported"
        assert reason in row["message"]

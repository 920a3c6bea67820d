"""MXNet as a user runs it; that it computes what the reference computes is shown in test_parity."""

import pytest

from steptime.core.backends.base import find
from steptime.core.backends.mxnet.layers import TABLE
from steptime.core.reference.network import KERNELS
from tests.conftest import framework_python

real = pytest.mark.real


@pytest.fixture(scope="session")
def mxnet_python():
    return framework_python("mxnet")


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


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

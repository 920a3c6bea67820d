"""TensorFlow as a user runs it; that it computes what the reference computes is shown in test_parity."""

import pytest

from steptime.core.backends.base import find
from steptime.core.backends.tensorflow.layers import TABLE
from steptime.core.reference.network import KERNELS

pytestmark = pytest.mark.real

THREADS: list[str] = []  # all of this machine


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


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

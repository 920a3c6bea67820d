"""PaddlePaddle as a user runs it; that it computes what the reference computes is shown in test_parity."""

import pytest

from steptime.core.backends.base import find
from steptime.core.backends.paddle.layers import TABLE
from steptime.core.backends.paddle.predictor import executed_types
from steptime.core.reference.network import KERNELS
from steptime.core.schema import Case
from tests.conftest import framework_python


@pytest.fixture(scope="module")
def python():
    return framework_python("paddle")


@pytest.mark.real
def test_training_and_inference_give_trustworthy_records(run):
    """A contended case is measured again, so that there may be more than one of each."""
    done = run("mnist_cnn", "--batch", "20", "--full")
    modes = {}
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        software = record["software"]
        assert software["framework"] == "paddle" and software["framework_version"].startswith("3.")
        assert software["threads"] == 1
        assert software["settings"]["products"] == "float32"
        modes[record["case"]["phase"]] = software["settings"]["compile"]
    assert modes == {"training": "eager", "inference": "predictor"}


@pytest.mark.real
def test_a_fresh_process_and_traced_mode_run_too(run):
    for extra in (["--fresh"], ["-b", "compile=static"]):
        done = run("mlp", "-m", "width=64", "-n", "8", *extra)
        assert {row["status"] for row in done.json} == {"ok"}, done.json


@pytest.mark.real
def test_mixed_precision_that_would_do_nothing_is_unsupported(run):
    done = run("mlp", "-m", "width=64", "-n", "8", "--phase", "training", "--precision", "bf16")
    *_, row = done.json
    assert row["status"] == "unsupported" and "silently leaves everything in fp32" in row["message"]


@pytest.mark.real
def test_bf16_inference_runs_in_bf16_or_says_that_it_does_not(run):
    *_, record = run("mnist_cnn", "-n", "8", "--phase", "inference", "--precision", "bf16", "--full").json
    assert record["status"] in ("ok", "unsupported", "illegal_instruction"), record["message"]
    if record["status"] == "ok":
        assert "bfloat16" in record["software"]["settings"]["products"]


@pytest.mark.real
def test_an_unknown_way_of_compiling_lists_the_known_ones(run):
    done = run("mlp", "--phase", "inference", "-b", "compile=fast")
    assert done.code != 0
    assert "auto, eager, predictor, static" in done.out + done.err


@pytest.mark.real
def test_doctor_is_green(steptime, python):
    done = steptime("doctor", "paddle", "--python", python, "--json", timeout=300)
    assert done.code == 0
    assert done.json[0]["works"] is True


def test_it_has_every_operator():
    assert set(TABLE) == set(KERNELS)


def test_options_are_what_the_documentation_says():
    assert find("paddle").options == {"compile": "auto", "mkl": "auto"}


def test_mkl_is_told_its_instruction_set_before_the_import_only_if_asked():
    paddle = find("paddle")
    assert "MKL_DEBUG_CPU_TYPE" not in paddle.environment(Case("mlp", "paddle", 1))
    asked = Case("mlp", "paddle", 1, backend_options={"mkl": "avx2"})
    assert paddle.environment(asked)["MKL_DEBUG_CPU_TYPE"] == "5"


def test_types_are_read_from_what_onednn_says_it_executed():
    log = """onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:1
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 dst:bf16::blocked:aBcd16b::f0
onednn_verbose,v1,primitive,exec,cpu,convolution,brgconv:avx512_core_bf16,forward_inference,src:bf16:a:blocked:acdb::f0
onednn_verbose,v1,primitive,exec,cpu,matmul,brg:avx512_core,undef,src:f32:a:blocked:ab::f0
onednn_verbose,v1,primitive,create:cache_hit,cpu,inner_product,x,forward_inference,src:s8:a:blocked:ab::f0,,,8x64,0.003"""
    assert executed_types(log) == {"bfloat16", "float32"}

"""tinygrad as a user runs it; that it computes what the reference computes is shown in test_parity."""

import subprocess
from pathlib import Path

import pytest

import steptime
from steptime.core.backends.tinygrad import compiler
from steptime.core.backends.tinygrad.layers import TABLE
from steptime.core.errors import Unsupported
from steptime.core.models.ops import LRN
from steptime.core.reference.network import KERNELS
from tests.conftest import framework_python

SMALL = ["mlp", "-m", "width=64", "-n", "8"]


@pytest.fixture(scope="module")
def python():
    return framework_python("tinygrad")


@pytest.mark.real
def test_training_and_inference_give_trustworthy_records(run):
    done = run(*SMALL, "--full")
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        software = record["software"]
        assert (software["framework"], software["framework_version"], software["threads"]) == ("tinygrad", "0.14.0", 1)
        assert software["settings"]["compiler"].startswith("clang version")
        assert record["resources"]["compile_seconds"] > 0


@pytest.mark.real
def test_a_fresh_process_and_eager_mode_run_too(run):
    for extra in (["--fresh"], ["-b", "compile=eager"]):
        done = run(*SMALL, "--phase", "inference", *extra)
        assert {row["status"] for row in done.json} == {"ok"}, done.json


@pytest.mark.real
def test_an_operator_that_it_lacks_is_named(run):
    *_, row = run("googlenet", "-n", "1", "--phase", "inference").json
    assert (row["status"], row["message"]) == ("unsupported", "tinygrad has no operator LRN")


@pytest.mark.real
def test_the_environment_brings_its_compiler(python):
    """No clang on PATH: the one of the wheel compiles."""
    code = "from steptime.core.backends.tinygrad.compiler import *; c = find_compiler(); print(compiler_version(c))"
    source = str(Path(steptime.__file__).parents[1])
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": source, "PATH": "/bin"})
    assert done.stdout.startswith("clang version"), done.stderr


def test_it_has_every_operator_but_one():
    assert set(KERNELS) - set(TABLE) == {LRN}


def test_without_any_compiler_the_message_says_how_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compiler, "_zig", lambda: "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(Unsupported, match="apt-get install clang"):
        compiler.find_compiler()


def test_a_compiler_that_does_not_exist_is_named(monkeypatch):
    monkeypatch.setenv("CC", "/no/such/cc")
    with pytest.raises(Unsupported, match="CC=/no/such/cc does not exist"):
        compiler.find_compiler()

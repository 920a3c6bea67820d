"""JAX as a user runs it; that it computes what the reference computes is shown in test_parity."""

import json
import subprocess
from pathlib import Path

import pytest

import steptime as package

pytestmark = pytest.mark.real
STEADY = """
from steptime.core.backends.base import find
from steptime.core.models import zoo
from steptime.core.models.weights import batch_of, initial_weights
from steptime.core.schema import Case
backend, graph, case = find("jax"), zoo.build("mlp", {"width": 16}), Case("mlp", "jax", 4, optimizer="adam")
backend.start(case)
program = backend.build(graph, case, initial_weights(graph, 1), *batch_of(graph, 4, 1))
for _ in range(3):
    program.step()
print(program._step._cache_size())
"""


@pytest.fixture
def script(jax_python):
    def run(code):
        environment = {"PYTHONPATH": str(Path(package.__file__).parents[1])}
        done = subprocess.run([jax_python, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_the_second_step_is_not_compiled_again(script):
    assert script(STEADY) == 1


def test_training_and_inference_give_trustworthy_records(run):
    done = run("mnist_cnn", "--batch", "20", "--full")
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok"
        assert record["software"]["framework"] == "jax"
        assert record["software"]["threads"] == 1
        assert record["software"]["settings"]["pool_threads"] == "1"
        assert record["resources"]["compile_seconds"] > 0
        assert 0 < record["cost"]["limit_share"] <= 1.05


def test_a_fresh_process_and_eager_mode_run_too(run):
    for extra in (["--fresh"], ["-b", "compile=eager"]):
        done = run("mlp", "-m", "width=64", "-n", "8", *extra)
        assert {row["status"] for row in done.json} == {"ok"}, done.json


@pytest.mark.parametrize("precision", ["bf16", "fp16", "fp64"])
def test_other_precisions_run(run, precision):
    done = run("mlp", "-m", "width=64", "-n", "8", "--precision", precision)
    assert {row["status"] for row in done.json} == {"ok"}, done.json


def test_what_only_a_gpu_has_is_unsupported_here(run):
    for extra in (["--precision", "tf32"], ["--device", "cuda"]):
        (row,) = run("mlp", "--phase", "inference", *extra).json
        if row["status"] != "ok":
            assert row["status"] == "unsupported"
            assert "CUDA" in row["message"]


def test_doctor_is_green(steptime, jax_python):
    done = steptime("doctor", "jax", "--python", jax_python, "--json", timeout=300)
    assert done.code == 0
    assert done.json[0]["works"] is True

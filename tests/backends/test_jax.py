"""JAX computes what the oracle computes, and runs as a user runs it."""

import json
import subprocess

import pytest

from tests.backends.conftest import SOURCE
from tests.models.reduced import REDUCED

pytestmark = pytest.mark.real
# A contended case is measured again: the last row counts.
QUICK = ["--max-seconds", "2", "--no-wait", "--threads", "1"]
# Parity asks what is computed, not how fast: XLA then compiles in a quarter of the time.
LAZY = {"XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"}

# Minutes each, of XLA compiling or of its gradient of depthwise kernels; their operators are all in others. By hand:
# `deviation_script.py jax fp64 2 sgd densenet121 efficientnet_b0 inception3` agreed; the rest is still to be run.
SLOW = {"densenet121", "efficientnet_b0", "inception3", "inception4", "inception_resnet_v2", "nasnet", "nasnetlarge"}

DROPOUT = """
import json, sys
import numpy as np
from steptime.backends.base import find
from steptime.models.ops import Dropout
from steptime.backends._jax_layers import Context, dropout
from steptime.schema import Case
find("jax").start(Case("mlp", "jax", 1))
import jax, jax.numpy as jnp
x = jnp.ones((1000, 1000))
y = np.asarray(dropout(Dropout(0.3), {}, [x], Context(True, x.dtype, jax.random.key(1))))
still = np.asarray(dropout(Dropout(0.3), {}, [x], Context(False, x.dtype)))
print(json.dumps({"kept": float((y > 0).mean()), "scale": float(y.max()), "still": float(np.ptp(still))}))
"""

REPEAT = """
import json, sys
from steptime.backends.base import find
from steptime.models import zoo
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Case
backend, graph, losses = find("jax"), zoo.build("mnist_cnn", {}), []
for seed in (1, 1, 2):
    case = Case("mnist_cnn", "jax", 4, seed=seed)
    backend.start(case)
    program = backend.build(graph, case, initial_weights(graph, 1), *batch_of(graph, 4, 1))
    losses.append([])
    for _ in range(3):
        program.step()
        program.wait()
        losses[-1].append(program.loss())
print(json.dumps(losses))
"""

STEADY = """
from steptime.backends.base import find
from steptime.models import zoo
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Case
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
        done = subprocess.run(
            [jax_python, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(SOURCE)}, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def run(steptime, jax_python):
    def call(*arguments):
        return steptime("run", *arguments, "--backend", "jax", "--python", jax_python, *QUICK, "--json", timeout=300)

    return call


def agree(found, **tolerances):
    for model, distances in found.items():
        for what, tolerance in tolerances.items():
            assert distances[what] <= tolerance, f"{model}: {what} differs by {distances[what]:.2g}"


def test_every_family_trains_as_the_reference_does(jax_python, deviations):
    """Running statistics of batch normalisation are among the weights."""
    models = sorted(set(REDUCED) - SLOW)
    found = deviations(jax_python, "jax", "fp64", "2", "sgd", *models, **LAZY)
    agree(found, outputs=1e-10, loss=1e-8, weights=1e-6, outputs_after=1e-6)
    assert found.keys() == set(models)


@pytest.mark.parametrize("optimizer", ["momentum", "adam", "none"])
def test_optimizers_update_as_the_reference_does(jax_python, deviations, optimizer):
    models = ["mnist_cnn", "resnet20", "llama"]
    found = deviations(jax_python, "jax", "fp64", "3", optimizer, *models, **LAZY)
    agree(found, loss=1e-8, weights=1e-6)


def test_the_second_step_is_not_compiled_again(script):
    assert script(STEADY) == 1


def test_outputs_are_the_same_in_single_precision(jax_python, deviations):
    agree(deviations(jax_python, "jax", "fp32", "0", "sgd", "all", **LAZY), outputs=1e-4)


def test_dropout_keeps_the_share_it_says_and_scales_the_rest(script):
    found = script(DROPOUT)
    assert found["kept"] == pytest.approx(0.7, abs=0.003)
    assert found["scale"] == pytest.approx(1 / 0.7, rel=1e-6)
    assert found["still"] == 0


def test_the_seed_decides_the_dropout_and_nothing_else_does(script):
    first, again, other = script(REPEAT)
    assert first == again
    assert first != other


def test_training_and_inference_give_trustworthy_records(steptime, jax_python):
    options = ["-B", "jax", "--python", jax_python, *QUICK, "--json", "--full"]
    done = steptime("run", "mnist_cnn", "--batch", "20", *options, timeout=300)
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
        *_, row = run("mlp", "--phase", "inference", *extra).json
        if row["status"] != "ok":
            assert row["status"] == "unsupported"
            assert "CUDA" in row["message"]


def test_doctor_is_green(steptime, jax_python):
    done = steptime("doctor", "jax", "--python", jax_python, "--json", timeout=300)
    assert done.code == 0
    assert done.json[0]["works"] is True

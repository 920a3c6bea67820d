"""What every backend's own tests share: the comparison with the reference, run where the framework is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime.backends.base import find
from steptime.schema import Case
from tests.conftest import framework_python

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
Figures = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def parity() -> Callable[..., Figures]:
    """parity(python, "tensorflow:compile=xla", "fp64", 2, "sgd", models) -> how far each model is from the reference."""

    def run(python: Path, backend: str, precision: str, steps: int, optimizer: str, models: list[str]) -> Figures:
        return script(python, "parity_script.py", backend, precision, str(steps), optimizer, *models)

    return run


@pytest.fixture(scope="session")
def dropout_statistics() -> Callable[..., dict[str, Any]]:
    """dropout_statistics(python, "tensorflow:compile=xla") -> what its dropout does, see dropout_script.py."""
    return lambda python, backend: script(python, "dropout_script.py", backend)


def script(python: Path, name: str, backend: str, *arguments: str) -> dict[str, Any]:
    """A script of this folder in another interpreter; the JSON on the last line of what it prints."""
    variables = find(backend.partition(":")[0]).environment(
        Case("mlp", backend.partition(":")[0], 1, backend_options=options(backend))
    )
    environment = {**os.environ, **variables, "PYTHONPATH": str(SOURCE)}
    command = [str(python), str(HERE / name), backend, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def options(backend: str) -> dict[str, Any]:
    """'keras:engine=jax' -> {'engine': 'jax'}"""
    return dict(part.split("=", 1) for part in backend.partition(":")[2].split(",") if part)


@pytest.fixture(scope="session")
def jax_python() -> Path:
    return framework_python("jax")


@pytest.fixture(scope="session")
def onnxruntime_python() -> Path:
    return framework_python("onnxruntime")


@pytest.fixture(scope="session")
def openvino_python() -> Path:
    return framework_python("openvino")


@pytest.fixture(scope="session")
def deviations() -> Callable[..., dict[str, Any]]:
    """Runs deviation_script.py: model to its deviations from the reference."""

    def run(python: Path, *arguments: str, timeout: float = 1800, **environment: str) -> dict[str, Any]:
        env = {**os.environ, "PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1", **environment}
        command = [python, HERE / "deviation_script.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout)
        assert done.returncode == 0, done.stderr[-3000:]
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return run

"""Interpreters with the frameworks that `steptime setup` installed."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime.environments.install import Environment
from tests.conftest import INSTALLED

SCRIPT = Path(__file__).with_name("parity_script.py")
SOURCE = Path(__file__).parents[2] / "src"


def framework_python(name: str) -> Path:
    """The interpreter of an environment, or the test is skipped with the reason."""
    if not INSTALLED:
        pytest.skip(f"STEPTIME_HOME is not set: no {name} to test with")
    env = Environment(name, Path(INSTALLED) / "environments" / name)
    if not env.ready:
        pytest.skip(f"no {name} in {env.folder}: run `STEPTIME_HOME={INSTALLED} steptime setup {name}`")
    return env.python


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
    """Runs the parity script: model to its deviations from the reference."""

    def run(python: Path, *arguments: str, timeout: float = 1800, **environment: str) -> dict[str, Any]:
        env = {**os.environ, "PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1", **environment}
        command = [python, SCRIPT, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout)
        assert done.returncode == 0, done.stderr[-3000:]
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return run

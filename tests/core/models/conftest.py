"""Scripts that run in interpreters which have frameworks. The tests' own has none."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
# Two threads that wait for each other on busy cores take many times as long as one.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def zoo_python() -> Path:
    """An interpreter with PyTorch, torchvision, timm and transformers."""
    path = os.environ.get("STEPTIME_TEST_ZOO_PYTHON", "")
    if not path:
        pytest.skip("STEPTIME_TEST_ZOO_PYTHON is not set: it names an interpreter with torch, torchvision, timm and transformers")
    return Path(path)


@pytest.fixture(scope="session")
def run_script() -> Callable[..., Any]:
    """Runs a script of this folder in another interpreter and reads the JSON on the last line of what it prints."""

    def run(python: Path, script: str, *arguments: str) -> Any:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **ONE_THREAD}
        command = [str(python), str(Path(__file__).parent / script), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run

"""What the tests of single backends share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steptime.checks.parity_plugin import candidate_of
from steptime.checks.parity_run import Answers, run_parity
from steptime.core.parity.answer import Question
from tests.conftest import Outcome, framework_python


@pytest.fixture(scope="session")
def parity() -> Callable[..., Answers]:
    """parity(python, "tensorflow:compile=xla", "fp64", 2, "sgd", families) -> how far each family is from the reference."""

    def run(python: Path, backend: str, precision: str, steps: int, optimizer: str, families: list[str]) -> Answers:
        candidate = candidate_of(backend)
        return run_parity(Question(candidate.backend.name, families, precision, steps, optimizer, candidate.options), python)

    return run


@pytest.fixture(scope="session")
def learnt(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("learnt") / "machines"


@pytest.fixture(autouse=True)
def remembering(home, learnt) -> Iterator[None]:
    """What one test's probes found out the next one knows, as in a user's home: each costs a start of the framework."""
    if learnt.exists():
        shutil.copytree(learnt, home / "machines")
    yield
    if (home / "machines").exists():
        shutil.copytree(home / "machines", learnt, dirs_exist_ok=True)


QUICK = ["--max-seconds", "2", "--no-wait", "--contended-rounds", "0"]
ONE_THREAD = ["--threads", "1"]


@pytest.fixture
def run(request, steptime) -> Callable[..., Outcome]:
    """run("mlp", ..): a quick run with the backend that the test file is named after, on one thread unless it has THREADS."""
    backend = request.module.__name__.rpartition(".test_")[2]
    threads = getattr(request.module, "THREADS", ONE_THREAD)
    options = ["--backend", backend, "--python", framework_python(backend), *QUICK, *threads, "--json"]
    return lambda *arguments: steptime("run", *arguments, *options, timeout=400)


@pytest.fixture(scope="session")
def jax_python() -> Path:
    return framework_python("jax")

"""Fixtures that many tests share. Every test has a home and a store of its own."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from steptime.core.backends.base import find
from steptime.core.machine.cpus import usable_threads
from steptime.core.machine.describe import describe
from steptime.core.schema import Case
from steptime.environments.install import Environment
from steptime.probe.findings import store_finding
from steptime.probe.prober import Prober, probe_key
from tests import together

# Read before any test changes it: where `make test` put the frameworks.
INSTALLED = os.environ.get("STEPTIME_HOME", "")

# Hundreds of processes are started here; each would compile all of steptime anew where bytecode is not kept.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples every time, and none refused for the load of the machine: a red test is a fault, never bad luck.
# `pytest --hypothesis-profile search` looks for new ones.
slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", max_examples=50, derandomize=True, database=None, **slow_is_fine)
settings.register_profile("search", max_examples=500, **slow_is_fine)
settings.load_profile("same")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    together.arranged(
        items, config.rootpath, several=bool(config.getoption("numprocesses", None) or os.environ.get("PYTEST_XDIST_WORKER"))
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in together.reasons(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line)


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(scope="session")
def homes(tmp_path_factory) -> Iterator[Path]:
    """Names of folders, one for each test; pytest would look through those of all tests before for the next number."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(homes, monkeypatch) -> Path:
    folder = next(homes)
    folder.mkdir()
    monkeypatch.setenv("STEPTIME_HOME", str(folder))
    monkeypatch.setenv("STEPTIME_STORE", str(folder / "store"))
    monkeypatch.setenv("TMPDIR", str(folder))  # so that parallel test runs do not wait for each other's turn
    monkeypatch.setattr(tempfile, "tempdir", None)  # which this process has looked up already
    return folder


@pytest.fixture
def steptime(home, tmp_path) -> Callable[..., Outcome]:
    """Runs the command as a user would, in a process of its own. Workers have one in any case, with `inside` too."""

    def run(*arguments: str | Path, cwd: Path = tmp_path, timeout: float = 120, **env: str) -> Outcome:
        command = [Path(sys.executable).with_name("steptime"), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=timeout, env={**os.environ, **env})
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def probed(tmp_path_factory) -> Path:
    """What a probe found out about the fake backend, asked once and not by every test."""
    folder = tmp_path_factory.mktemp("probed")
    case, python = Case("mlp", "fake", 1, threads=usable_threads()), Path(sys.executable)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEPTIME_HOME", str(folder))
        found = Prober(describe().id, say=lambda line: None).probe(case, python)
        assert found
        settled = replace(found, verdict="clean")  # what is found out on a busy machine would be asked again
        store_finding(describe().id, probe_key(find(case.backend), case, python), settled)
    return folder / "machines"


@pytest.fixture
def known_machine(home, probed) -> None:
    """This machine has been probed before, as of a user's second command."""
    shutil.copytree(probed, home / "machines")


@pytest.fixture
def inside(home, tmp_path, monkeypatch, capsys) -> Callable[..., Outcome]:
    """Runs the command in this process, where the command's own process is not the point: a hundred times faster to begin."""
    from steptime.cli import main

    def run(*arguments: str | Path) -> Outcome:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["steptime", *map(str, arguments)])
        capsys.readouterr()
        code = main._ended()
        seen = capsys.readouterr()
        return Outcome(code, seen.out, seen.err)

    return run


def framework_python(name: str) -> Path:
    """The interpreter of a framework's environment, in the home that was in force when the tests were started."""
    if not INSTALLED:
        pytest.skip(f"{name} is not installed, or STEPTIME_HOME does not name the home in which it is")
    env = Environment(name, Path(INSTALLED) / "environments" / name)
    if not env.ready:
        pytest.skip(f"{name} is not installed; run: steptime setup {name}")
    return env.python


@pytest.fixture(scope="session")
def torch_python() -> Path:
    return framework_python("pytorch")

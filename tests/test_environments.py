"""Environments are whole or known to be broken, and doctor says how to repair them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.environments.health import complaint, disk_bytes
from steptime.environments.install import LOCK, MARKER, environment, install
from steptime.environments.pins import Pins, names, pins
from steptime.errors import SetupError

EMPTY = Pins("pytorch", "cpu", (f"{sys.version_info.major}.{sys.version_info.minor}",), (), "json")


@pytest.fixture
def env(home):
    """A finished environment without a framework, made as `steptime setup` makes them but for pip."""
    env = environment("pytorch")
    env.folder.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env.folder], check=True)
    (env.folder / LOCK).write_text("")
    (env.folder / MARKER).write_text(json.dumps({"packages": []}))
    return env


def finding(steptime):
    done = steptime("doctor", "pytorch", "--json")
    assert done.code == 1
    return done.json[0]


def test_pins_name_versions():
    for name in names():
        found = pins(name, "cpu")
        assert found.packages and all("==" in package for package in found.packages), name


def test_a_healthy_environment_has_nothing_to_complain_of(env):
    assert complaint(env) == ""
    assert disk_bytes(env.folder) > 0


def test_an_interrupted_installation_is_diagnosed(env, steptime):
    (env.folder / MARKER).unlink()
    found = finding(steptime)
    assert "is not finished" in found["seen"]
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_a_lost_interpreter_is_diagnosed(env, steptime):
    env.python.unlink()
    env.python.symlink_to("/gone/python3.11")
    found = finding(steptime)
    assert found["seen"] == "pytorch has lost its interpreter /gone/python3.11"
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_an_interpreter_that_does_not_start_is_diagnosed(env, steptime):
    env.python.unlink()
    env.python.write_text("#!/bin/sh\necho 'error while loading shared libraries: libpython3.11.so' >&2\nexit 127\n")
    env.python.chmod(0o755)
    found = finding(steptime)
    assert "does not work: error while loading shared libraries: libpython3.11.so" in found["seen"]


def test_a_changed_package_is_diagnosed(env, steptime):
    (env.folder / LOCK).write_text("numpy==2.4.6\n")
    package = next(env.folder.glob("lib/python3*/site-packages")) / "numpy-1.23.5.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.23.5\n")
    found = finding(steptime)
    assert "numpy 1.23.5, not 2.4.6" in found["seen"]
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_a_missing_shared_library_is_diagnosed(env, steptime):
    site = next(env.folder.glob("lib/python3*/site-packages"))
    (site / "numpy.py").write_text("raise ImportError('libopenblas.so.0: cannot open shared object file')\n")
    found = finding(steptime)
    assert "libopenblas.so.0: cannot open shared object file" in found["seen"]
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_an_installation_that_fails_says_why_and_where_all_of_it_is(home):
    broken = Pins("pytorch", "cpu", EMPTY.pythons, ("--no-index", "no-such-package==1.0"), "json")
    with pytest.raises(SetupError, match=r"failed: .*no-such-package.*all of it in .*install\.log"):
        install(broken, say=lambda line: None)
    assert not environment("pytorch").ready


def test_a_framework_without_a_fitting_python_says_which_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match=r"needs Python 2\.5"):
        install(Pins("pytorch", "cpu", ("2.5",), (), "json"), say=lambda line: None)


def test_setup_lists_and_removes(env, steptime):
    rows = {row["name"]: row for row in steptime("setup", "--json").json}
    assert rows["pytorch"]["ready"] is True and rows["pytorch"]["disk_bytes"] > 0
    assert "pytorch" in steptime("setup").out
    assert steptime("setup", "pytorch", "--remove").out == "pytorch: removed\n"
    assert not env.folder.exists()
    assert Path(env.folder).parent.exists()

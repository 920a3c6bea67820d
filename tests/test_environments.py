"""Environments are whole or known to be broken, and doctor says how to repair them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.core.errors import SetupError
from steptime.environments import debian
from steptime.environments.health import complaint, disk_bytes
from steptime.environments.install import LOCK, MARKER, Environment, environment, install
from steptime.environments.pins import Pins, names, pins, pins_here
from tests.conftest import INSTALLED

SOURCES = """\
Types: deb
# http://snapshot.example/debian
URIs: https://mirror.example/debian/
Suites: bookworm
"""
EMPTY = Pins("pytorch", "cpu", (f"{sys.version_info.major}.{sys.version_info.minor}",), (), "json")


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """An environment with nothing in it."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


@pytest.fixture
def env(home, bare):
    """A finished environment without a framework, made as `steptime setup` makes them but for pip."""
    env = environment("pytorch")
    shutil.copytree(bare, env.folder, symlinks=True)
    (env.folder / LOCK).write_text("")
    (env.folder / MARKER).write_text(json.dumps({"packages": []}))
    return env


def finding(inside):
    done = inside("doctor", "pytorch", "--json")
    assert done.code == 1
    return done.json[0]


def test_pins_name_versions():
    for name in names():
        found = pins(name, "cpu")
        assert found.packages and all("==" in package for package in found.packages), name


def test_a_healthy_environment_has_nothing_to_complain_of(env):
    assert complaint(env) == ""
    assert disk_bytes(env.folder) > 0


@pytest.mark.parametrize(
    ("packages", "version"),
    [
        (["torch==2.13.0+cpu", "numpy==2.4.6"], "2.13.0+cpu"),
        (["python3-caffe=1.0.0+git20180821.99bd997-8+b2"], "1.0.0"),  # Debian's: the makers' own part of it
        (["python3-caffe=1.0-8"], "1.0"),
        ([], ""),
    ],
)
def test_the_version_is_that_of_the_framework(env, packages, version):
    (env.folder / MARKER).write_text(json.dumps({"packages": packages}))
    assert env.version == version


def test_an_interrupted_installation_is_diagnosed(env, inside):
    (env.folder / MARKER).unlink()
    found = finding(inside)
    assert "is not finished" in found["seen"]
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_a_lost_interpreter_is_diagnosed(env, inside):
    env.python.unlink()
    env.python.symlink_to("/gone/python3.11")
    found = finding(inside)
    assert found["seen"] == "pytorch is missing its interpreter /gone/python3.11"
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_an_interpreter_that_does_not_start_is_diagnosed(env, inside):
    env.python.unlink()
    env.python.write_text("#!/bin/sh\necho 'error while loading shared libraries: libpython3.11.so' >&2\nexit 127\n")
    env.python.chmod(0o755)
    found = finding(inside)
    assert "does not work: error while loading shared libraries: libpython3.11.so" in found["seen"]


def test_a_changed_package_is_diagnosed(env, inside):
    (env.folder / LOCK).write_text("numpy==2.4.6\n")
    package = next(env.folder.glob("lib/python3*/site-packages")) / "numpy-1.23.5.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.23.5\n")
    found = finding(inside)
    assert "numpy 1.23.5, not 2.4.6" in found["seen"]
    assert found["remedy"] == "steptime setup --rebuild pytorch"


def test_a_missing_shared_library_is_diagnosed(env, inside):
    site = next(env.folder.glob("lib/python3*/site-packages"))
    (site / "numpy.py").write_text("raise ImportError('libopenblas.so.0: cannot open shared object file')\n")
    found = finding(inside)
    assert "libopenblas.so.0: cannot open shared object file" in found["seen"]
    assert found["remedy"] == "steptime setup --rebuild pytorch"


@pytest.mark.real
def test_an_installation_that_fails_says_why_and_where_all_of_it_is(home):
    broken = Pins("pytorch", "cpu", EMPTY.pythons, ("--no-index", "no-such-package==1.0"), "json")
    with pytest.raises(SetupError, match=r"failed: .*no-such-package.*all of it in .*install\.log"):
        install(broken, say=lambda line: None)
    assert not environment("pytorch").ready


def test_a_framework_without_a_fitting_python_says_which_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match=r"needs Python 2\.5"):
        install(Pins("pytorch", "cpu", ("2.5",), (), "json"), say=lambda line: None)


def test_setup_lists_and_removes(env, inside):
    rows = {row["name"]: row for row in inside("setup", "--json").json}
    assert rows["pytorch"]["ready"] is True and rows["pytorch"]["disk_bytes"] > 0
    assert "pytorch" in inside("setup").out
    assert inside("setup", "pytorch", "--remove").out == "pytorch: removed\n"
    assert not env.folder.exists()
    assert Path(env.folder).parent.exists()


def test_debian_mirrors_are_those_of_the_machine_and_then_debians_own():
    found = debian.mirrors(
        [SOURCES, "deb http://other.example/debian bookworm main\ndeb http://other.example/debian-security x main"]
    )
    assert found[:2] == ["https://mirror.example/debian", "http://other.example/debian"]
    assert "https://mirror.example/debian-archive/debian" in found
    assert found[-2:] == list(debian.ELSEWHERE)
    assert debian.mirrors(["deb http://archive.ubuntu.com/ubuntu jammy main"]) == list(debian.ELSEWHERE)


def test_what_apt_would_download_is_counted():
    listing = "Reading..\n'http://m/a_1_all.deb' a_1_all.deb 1000 MD5Sum:0\n'http://m/b_2_all.deb' b_2_all.deb 500 \n"
    assert debian.downloads(listing) == (2, 1500)
    assert debian.package_of("python3-numpy_1%3a1.19.5-1_amd64.deb") == "python3-numpy=1:1.19.5-1"


def test_an_unpacked_interpreter_runs_through_its_own_loader_wherever_it_lies(tmp_path):
    """A stand-in for the loader tells what it was given."""
    root = tmp_path / "moved here" / "root"
    (root / "lib" / "x86").mkdir(parents=True)
    loader = root / "lib" / "x86" / "ld-2.31.so"
    loader.write_text('#!/bin/sh\necho "$PYTHONHOME"; printf "%s\\n" "$@"\n')
    loader.chmod(0o755)
    python = root.parent / "bin" / "python"
    python.parent.mkdir()
    python.write_text(debian.interpreter_text("x86", "ld-2.31.so", "python3.9"))
    python.chmod(0o755)
    home, cache, option, libraries, program, *rest = subprocess.run(
        [python, "-c", "a b"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert home == f"{root}/usr"
    assert (cache, option) == ("--inhibit-cache", "--library-path")
    assert libraries.split(":")[0] == f"{root}/usr/lib/x86/openblas-pthread"
    assert program == f"{root}/usr/bin/python3.9"
    assert rest == ["-c", "a b"]
    loader.unlink()
    assert subprocess.run([python, "-V"], capture_output=True).returncode == 127


def test_a_machine_without_apt_is_told_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"need apt-get"):
        install(pins("caffe", "cpu"), say=lambda line: None)
    assert not environment("caffe").ready


def test_a_machine_with_a_gpu_gets_the_pins_for_cpus_where_there_are_no_others():
    assert pins_here("caffe", "cuda").platform == "cpu"
    assert pins_here("mxnet", "cuda").packages[0].startswith("mxnet-cu")


def linked(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.mark.real
def test_a_lost_library_of_an_unpacked_environment_is_diagnosed(home, steptime):
    """Of the real environment, whose files are linked and not copied."""
    original = Environment("caffe", Path(INSTALLED or "nowhere") / "environments" / "caffe")
    if not original.ready:
        pytest.skip("no caffe: run `steptime setup caffe`")
    copy = environment("caffe")
    shutil.copytree(original.folder, copy.folder, symlinks=True, copy_function=linked)
    (library,) = copy.folder.glob("root/usr/lib/*/libcaffe.so.1.0.0")
    library.unlink()
    done = steptime("doctor", "caffe", "--json")
    assert done.code == 1
    assert "libcaffe.so.1.0.0: cannot open shared object file" in done.json[0]["seen"]
    assert done.json[0]["remedy"] == "steptime setup --rebuild caffe"

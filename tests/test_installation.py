"""`pip install steptime` gives a framework's interpreter the library alone; the command is the extra `tool`."""

from __future__ import annotations

import importlib.metadata
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steptime.core

ROOT = Path(__file__).parents[1]
TOOL_PACKAGES = ("click", "duckdb", "msgspec", "rich", "starlette", "uvicorn")
WITHOUT_TOOL = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {TOOL_PACKAGES}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT_TOOL + program], capture_output=True, text=True, timeout=120)


def test_the_library_requires_numpy_and_nothing_else():
    required = importlib.metadata.requires("steptime") or []
    assert [text for text in required if "extra ==" not in text] == ["numpy>=1.23"]
    assert {text.partition(">")[0] for text in required if 'extra == "tool"' in text.replace("'", '"')} >= {*TOOL_PACKAGES}


def test_importing_steptime_loads_not_even_numpy():
    done = python("import steptime; print('numpy' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_what_every_verb_imports_loads_no_numpy():
    program = "import sys; import steptime.cli.main, steptime.cli.options; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_every_module_of_the_library_imports_without_the_tools_packages():
    names = [module.name for module in pkgutil.walk_packages(steptime.core.__path__, "steptime.core.")]
    names.remove("steptime.core.worker.__main__")
    assert len(names) > 100
    done = python(f"import importlib\nfor name in {names}: importlib.import_module(name)\nprint('all')")
    assert (done.stdout, done.stderr) == ("all\n", "")


def test_the_command_says_which_package_it_lacks_and_how_to_get_it():
    done = python("sys.argv = ['steptime', 'list']\nfrom steptime.__main__ import main\nmain()")
    assert done.returncode == 2
    assert done.stderr == (
        "steptime: the command needs the package click, which is not installed; "
        "install the command with: pip install 'steptime[tool]'\n"
    )


def python_3_9() -> str:
    """One that starts: a version manager may put a command on PATH that only names the versions it has."""
    candidates = [shutil.which("python3.9"), *Path.home().glob(".pyenv/versions/3.9.*/bin/python3.9")]
    starts = (str(each) for each in candidates if each and not subprocess.run([each, "-c", ""], capture_output=True).returncode)
    return next(starts, "")


@pytest.mark.real
def test_the_wheel_installs_on_python_3_9_with_numpy_alone(tmp_path):
    old = python_3_9()
    if not old:
        pytest.skip("no python3.9 here")

    def run(*command: object) -> str:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    run(old, "-m", "venv", "there")
    run("there/bin/pip", "install", "--quiet", *tmp_path.glob("steptime-*.whl"))
    installed = {line.partition("==")[0] for line in run("there/bin/pip", "list", "--format=freeze").splitlines()}
    assert installed <= {"steptime", "numpy", "pip", "setuptools"}
    program = "from steptime.core.backends.base import find, names; print(len(names()), find('reference').precisions)"
    assert "fp64" in run("there/bin/python", "-c", program)
    refused = subprocess.run(["there/bin/steptime", "list"], capture_output=True, text=True, cwd=tmp_path)
    assert (refused.returncode, refused.stderr[:46]) == (2, "steptime: the command needs Python 3.11 or new")

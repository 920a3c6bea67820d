"""Who follows CONTRIBUTING.md to add a backend, a model or an operator has one that works, in a copy of the sources."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

# A block of code follows the words that say where it goes: a file, a literal in a file, or what it comes before in a file.
BLOCK = re.compile(
    r"(?:(?P<where>in|before) `(?P<name>[^`\n]+)`\s(?:of|in)\s)?"
    r"`(?P<path>(?:src|tests)/[^`\n]+\.py)`[^`]*?:\n\n```python\n(?P<code>.*?)```",
    re.DOTALL,
)


class Copy:
    """Sources and tests of this project, to be changed and run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, folder / part)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def follow(self, title: str) -> None:
        """Does what the section says."""
        text = (ROOT / "CONTRIBUTING.md").read_text()
        section = re.search(rf"^## {title}.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
        assert section
        blocks = list(BLOCK.finditer(section[0]))
        assert len(blocks) == section[0].count("```python"), "a block of code does not say where it goes"
        for block in blocks:
            self._put(self.folder / block["path"], block["where"] or "", block["name"] or "", block["code"])

    def _put(self, path: Path, where: str, name: str, code: str) -> None:
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        place = len(lines)
        if where:
            place = next(number for number, line in enumerate(lines) if line.startswith(name))
            place += where == "in"
        path.write_text("".join([*lines[:place], code, *lines[place:]]))

    def python(self, *arguments: str) -> str:
        """What an interpreter prints that has the copy instead of this project."""
        command = [sys.executable, "-P", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=environment, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run(self, *arguments: str) -> dict[str, Any]:
        """The record of one case, as a row."""
        command = ("-c", "from steptime.cli.main import main; main()", "run", *arguments, "--max-seconds", "0.2", "--json")
        return json.loads(self.python(*command).splitlines()[0])

    def pytest(self, *arguments: str) -> str:
        return self.python("-m", "pytest", "-p", "no:cacheprovider", *arguments)


@pytest.fixture
def copy(tmp_path) -> Copy:
    return Copy(tmp_path / "copy")


def test_a_backend_is_one_folder(copy):
    copy.follow("Adding a backend")
    assert "mini" in copy.python("-c", "from steptime.core.backends.base import names, find; print(names(), find('mini').phases)")
    row = copy.run("mlp", "-m", "width=50", "-B", "mini", "--phase", "inference")
    assert (row["status"], row["framework"]) == ("ok", "numpy")
    suite = ("--pyargs", "steptime.checks.parity_suite", "--parity-backend", "mini", "--parity-families", "mlp")
    assert "passed" in copy.pytest(*suite)


def test_a_model_is_one_function_and_its_figures(copy):
    copy.follow("Adding a model")
    row = copy.run("mynet", "-B", "reference", "--batch", "2")
    assert (row["status"], row["model"]) == ("ok", "mynet")
    copy.pytest("tests/core/models/test_published.py", "-k", "mynet or every")
    suite = ("--pyargs", "steptime.checks.parity_suite", "--parity-backend", "reference", "--parity-families", "mynet")
    assert "passed" in copy.pytest(*suite)


def test_an_operator_is_what_it_is_what_it_computes_and_an_entry_in_each_table(copy):
    copy.follow("Adding an operator")
    copy.pytest("tests/core/reference/test_gradients.py", "-k", "Negate or every_operator")

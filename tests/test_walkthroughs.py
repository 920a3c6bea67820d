"""Who follows a walk-through of CONTRIBUTING.md has added something that works, in a copy of the sources."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steptime.store.files import Store
from tests.guide.conftest import everything

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

# A block of code follows the words that say where it goes: a file, a literal in a file, or what it comes before in a file.
BLOCK = re.compile(
    r"(?:(?P<where>in|before) `(?P<name>[^`\n]+)`\s(?:of|in)\s)?"
    r"`(?P<path>(?:src|tests)/[^`\n]+\.(?:py|js))`[^`]*?:\n\n```(?:python|javascript)\n(?P<code>.*?)```",
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
        assert len(blocks) == section[0].count("```python") + section[0].count("```javascript"), (
            "a block of code does not say where it goes"
        )
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

    def steptime(self, *arguments: str) -> str:
        return self.python("-c", "from steptime.cli.main import main; main()", *arguments)

    def run(self, *arguments: str) -> dict[str, Any]:
        """The record of one case, as a row."""
        row: dict[str, Any] = json.loads(self.steptime("run", *arguments, "--max-seconds", "0.2", "--json").splitlines()[0])
        return row

    def pytest(self, *arguments: str) -> str:
        return self.python("-m", "pytest", "-p", "no:cacheprovider", *arguments)


FIGURE = """
import json, sys
from dataclasses import replace
from pathlib import Path
from steptime.cli.show import sections
from steptime.core.schema import Case, Record, Resources, Summary
from steptime.guide.view.dimensions import MEASURES, STORED_MEASURES
from steptime.guide.web.assets import text
from steptime.guide.engine import Guide
from steptime.guide.query.points import query
from steptime.guide.view.view import View
from steptime.store.export import csv_text
from steptime.store.files import Store
from steptime.store.parquet_index import ParquetIndex
from steptime.store.columns import row_of
from steptime.store.snapshot import Snapshot

summary = Summary(9, 8, 0.1, 80.0, 1.0, 1.0, 0.95, 79.0, 81.0, "", 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
resources = Resources(1, None, 1.0, 1.0, 1.0, 1.0, None, idle_seconds=0.25)
record = Record("a", "ok", Case("mlp", "null", 8), "2026-01-01", summary=summary, resources=resources)
store = Store(Path(sys.argv[1]))
store.put(record)
store.put(replace(record, id="b", resources=replace(resources, idle_seconds=None)))
index = ParquetIndex(store)
index.refresh()
guide = Guide(store)
guide.refresh()
print(json.dumps({
    "row": row_of(record)["idle_ms"],
    "show": dict(dict(sections(record))["resources"])["idle time of the device in a step"],
    "csv": "idle_ms" in csv_text([row_of(record)]).splitlines()[0].split(","),
    "index": sorted(row["idle_ms"] or 0 for row in Snapshot.of(index).index_rows("rows")),
    "measure": [MEASURES["idle_ms"].label, "idle_ms" in STORED_MEASURES],
    "point": query(guide.snapshot, View.of(x="model", y="idle_ms")).points[0].value,
    "page": '"idle time of the device in a step"' in text("facts.js"),
}))
"""


CHART_KIND = """
import json, sys
from pathlib import Path
from starlette.testclient import TestClient
from steptime import guide
from steptime.guide.server.app import application
from steptime.guide.view.view import View
from steptime.guide.web.assets import script
from steptime.store.files import Store

store = Store(Path(sys.argv[1]))
client = TestClient(application(store), base_url="http://localhost:8765")
shown = client.get("/api/view?view=counts&framework=JAX").json()
print(json.dumps({
    "address": View.parse("view=counts&model=vgg16").query(),
    "notebook": [c.model for c in guide.open(store.root).ask("view=counts&model=vgg16,gpt2").points],
    "page": [shown["title"], shown["answer"]["counts"][0], shown["spec"]["mark"]],
    "csv": client.get("/guide.csv?view=counts&model=gpt2").text,
    "svg": client.get("/guide.svg?view=counts").text[:4],
    "scripts": ["counts: countsKind" in script(entry) for entry in ("page", "report")],
}))
"""


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


def test_an_importer_is_one_file_and_a_sample_of_what_it_reads(copy):
    copy.follow("Adding an importer")
    copy.pytest("tests/importing/test_formats.py", "-k", "mytool or every_importer")
    assert "mytool" in copy.steptime("import", "--formats")


def test_a_verb_is_one_file(copy):
    copy.follow("Adding a verb")
    assert "slowest   name the slowest step of a record" in copy.steptime("--help")
    copy.run("mlp", "-B", "fake", "-b", "step_ms=1", "--phase", "inference", "--max-steps", "30")
    assert json.loads(copy.steptime("slowest", "--json")).keys() == {"step", "seconds"}
    assert copy.steptime("slowest").startswith("step ")


def test_an_operator_is_what_it_is_what_it_computes_and_an_entry_in_each_table(copy):
    copy.follow("Adding an operator")
    copy.pytest("tests/core/reference/test_gradients.py", "-k", "Negate or every_operator")


def test_a_record_figure_is_a_field_and_a_line(copy, tmp_path):
    copy.follow("Adding a record figure")
    assert json.loads(copy.python("-c", FIGURE, str(tmp_path / "store"))) == {
        "row": 250.0,
        "show": "250 ms",
        "csv": True,
        "index": [0, 250.0],
        "measure": ["idle time of the device in a step", True],
        "point": 250.0,
        "page": True,
    }


def test_a_chart_kind_is_one_file_in_python_and_one_in_javascript(copy, tmp_path):
    copy.follow("Adding a chart kind")
    store = Store(tmp_path / "store")
    store.put_all(everything())
    assert json.loads(copy.python("-c", CHART_KIND, str(store.root))) == {
        "address": "view=counts&model=vgg16",
        "notebook": ["gpt2", "vgg16"],
        "page": ["Runs of each model", {"model": "alexnet", "runs": 6}, "bar"],
        "csv": "model,runs\ngpt2,4\n",
        "svg": "<svg",
        "scripts": [True, True],
    }
    chart = ("chart", "--view", "counts", "--filter", "model=gpt2", "--store", str(store.root))
    printed = copy.python("-c", "from steptime.cli.main import main; main()", *chart)
    assert printed.split() == ["model", "runs", "-----", "----", "gpt2", "4"]

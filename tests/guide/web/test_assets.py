"""The script that the browser gets is many small modules joined into one."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from steptime.guide.view.dimensions import DIMENSIONS, MEASURES
from steptime.guide.web import assets
from steptime.store.columns import COLUMNS

ENTRIES = ("page", "report")


@pytest.mark.parametrize("entry", ENTRIES)
def test_names_are_unique_in_the_one_scope_that_modules_are_joined_into(entry):
    names = re.findall(r"^(?:async )?(?:function|const|let|class) +(\w+)", assets.script(entry), re.M)
    assert [name for name, n in Counter(names).items() if n > 1] == []
    assert len(names) > 60


@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_is_left_of_imports_and_exports(entry):
    assert not re.search(r"^(import|export)\b", assets.script(entry), re.M)


@pytest.mark.parametrize("entry", ENTRIES)
def test_modules_come_after_what_they_import(entry):
    order = list(assets.modules(entry))
    for name in order:
        for imported in assets.imported(name):
            assert order.index(imported) < order.index(name), f"{name} imports {imported}"


def test_every_name_that_is_imported_is_exported():
    for name in assets.modules("report"):
        text = assets.text(f"{name}.js")
        lists = re.findall(r"^import \{([^}]*)\} from", text, re.M)
        for names, module in zip(lists, assets.imported(name), strict=True):
            source = assets.text(f"{module}.js")
            for wanted in filter(None, (n.strip() for n in names.split(","))):
                assert re.search(rf"^export (async )?(function|const|let|class) {wanted}\b", source, re.M), (
                    f"{name}: {wanted} of {module}"
                )
                assert len(re.findall(rf"\b{re.escape(wanted)}\b", text)) > 1, f"{name} imports {wanted} and does not use it"


def test_no_markup_is_ever_made_from_text():
    for name in assets.modules("report"):
        text = assets.text(f"{name}.js")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), name


def test_no_line_of_a_script_is_longer_than_130_characters():
    for script in Path(str(resources.files("steptime.guide") / "web")).rglob("*"):
        if script.name.endswith((".js", ".d.ts")):
            long = [n for n, line in enumerate(script.read_text("utf-8").splitlines(), 1) if len(line) > 130]
            assert not long, f"{script.name}: lines {long}"


def test_no_script_lists_columns_by_hand():
    columns = {*COLUMNS, *DIMENSIONS, *MEASURES}
    for name in assets.modules("report"):
        if f"{name}.js" not in assets.GENERATED:
            for listed in re.findall(r"\[([^][]*)\]", assets.text(f"{name}.js")):
                named = columns & set(re.findall(r'"(\w+)"', listed))
                assert len(named) < 3, f"{name} lists {sorted(named)}"

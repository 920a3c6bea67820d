"""The engine in the report answers as the one in Python does: the same golden cases, in a real browser."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from steptime.guide.web import assets

pytestmark = pytest.mark.real
GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text())


@pytest.fixture(scope="module")
def answers(chromium) -> list[Any]:
    names = dict.fromkeys([*assets.modules("engine"), *assets.modules("state")])
    script = "\n".join(assets.EXPORT.sub("", assets.IMPORT.sub("", assets.text(f"{name}.js"))) for name in names)
    page = chromium.new_page()
    page.add_script_tag(content=script)
    asked = [[case["kind"], case["query"]] for case in GOLDEN["cases"]]
    answer = """([rows, asked]) => {
      const engine = engineOf({ rows });
      const answer = (kind, view) => (kind === "facets" ? engine.facets(view) : engine.answer(view).answer);
      return asked.map(([kind, query]) => JSON.parse(JSON.stringify(answer(kind, parseView(query)))));
    }"""
    found = page.evaluate(answer, [GOLDEN["rows"], asked])
    for one in found:
        if "warnings" in one:
            one["warnings"] = [warning["text"] for warning in one["warnings"]]
    page.close()
    return found


def difference(expected: Any, found: Any, path: str = "") -> str:
    """Where they first differ; figures may differ in the last digits."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return next(filter(None, (difference(v, found.get(k), f"{path}.{k}") for k, v in expected.items() if k != "view")), "")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return next(
            filter(None, (difference(e, f, f"{path}[{i}]") for i, (e, f) in enumerate(zip(expected, found, strict=True)))), ""
        )
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)) and math.isclose(expected, found, rel_tol=1e-9):
        return ""
    return "" if expected == found else f"{path}: Python says {expected!r}, the browser {found!r}"


@pytest.mark.parametrize("number", range(len(GOLDEN["cases"])), ids=lambda n: f"{n}-{GOLDEN['cases'][n]['kind']}")
def test_the_browser_answers_as_python_does(answers, number):
    case = GOLDEN["cases"][number]
    assert difference(case["expected"], answers[number]) == "", case["query"]

"""The engine in the report answers as the one in Python does: the same golden cases, in a real browser."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from steptime.guide.engine import Guide
from steptime.guide.query.results import plain
from steptime.guide.view.view import View
from steptime.guide.web import assets
from steptime.store.columns import row_of
from steptime.store.files import Store
from tests.guide import random_stores

pytestmark = pytest.mark.real
GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text())


@pytest.fixture(scope="module")
def engine(chromium):
    """Answers of the engine in the browser to (kind, query), over rows."""
    names = dict.fromkeys([*assets.modules("engine"), *assets.modules("state")])
    script = "\n".join(assets.EXPORT.sub("", assets.IMPORT.sub("", assets.text(f"{name}.js"))) for name in names)
    page = chromium.new_page()
    page.add_script_tag(content=script)
    answer = """([rows, asked]) => {
      const engine = engineOf({ rows });
      const answer = (kind, view) => {
        if (kind === "alike") return queryOf(engine.alike(view));
        return kind === "facets" ? engine.facets(view) : engine.answer(view).answer;
      };
      return asked.map(([kind, query]) => JSON.parse(JSON.stringify(answer(kind, parseView(query)))));
    }"""
    yield lambda rows, asked: page.evaluate(answer, [rows, asked])
    page.close()


@pytest.fixture(scope="module")
def answers(engine) -> list[Any]:
    found = engine(GOLDEN["rows"], [[case["kind"], case["query"]] for case in GOLDEN["cases"]])
    for one in found:
        if "warnings" in one:
            one["warnings"] = [warning["text"] for warning in one["warnings"]]
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


@pytest.mark.parametrize("seed", range(100, 125))
def test_both_engines_agree_on_stores_and_views_at_random(engine, tmp_path, seed):
    chance = random.Random(seed)
    records = random_stores.records(chance)
    store = Store(tmp_path)
    store.put_all(records)
    guide = Guide(store)
    guide.refresh()
    views = [random_stores.view(chance) for _ in range(20)]
    found = engine([row_of(record) for record in records], [["answer", view.query()] for view in views])
    charts = [(view, one["series"]) for view, one in zip(views, found, strict=True) if len(one.get("series", ())) > 1]
    views += [view.but(baseline=series[-1]) for view, series in charts]
    found = engine([row_of(record) for record in records], [["answer", view.query()] for view in views])
    for view, one in zip(views, found, strict=True):
        assert difference(json.loads(json.dumps(plain(guide.answer(view)))), one) == "", view.query()
    drawn = [view for view in views if view.kind == "chart"]
    narrowed = engine([row_of(record) for record in records], [["alike", view.query()] for view in drawn])
    for view, one in zip(drawn, narrowed, strict=True):
        assert View.parse(one) == guide.alike(view), view.query()

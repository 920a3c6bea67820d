"""One description of every chart: what Chromium is given to draw, on the page and in the report, is what `steptime chart`
writes, down to colours, orders and words. Only the size is the reader's own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steptime.guide.charts import steps
from steptime.guide.charts.spec_template import fill
from steptime.guide.charts.theme import THEMES, theme_values
from steptime.guide.query import warnings
from steptime.guide.web import assets

pytestmark = pytest.mark.real
SIZE = ("width", "height", "columns", "autosize", "title", "$schema")
"""what the page chooses by the room it has; its titles are headings of the page"""
WATCH = """let real;
globalThis.drawn = [];
Object.defineProperty(globalThis, "vegaEmbed", { configurable: true, set(made) { real = made; },
  get: () => real && watched });
const watched = (target, spec, options) => { globalThis.drawn.push(JSON.stringify(spec)); return real(target, spec, options); };
"""
VIEWS = {
    "bars": "group=precision&phase=inference&device=Tesla V100",
    "bars of one series": "phase=training&framework=pytorch",
    "points on a log axis": "group=precision&phase=inference&log=y&agg=mean&device=Tesla V100",
    "bars relative to a series": "group=precision&phase=inference&device=Tesla V100&baseline=fp32",
    "lines over numbers": "x=replicas&group=framework&model=resnet50&phase=training&precision=fp16&y=efficiency",
    "lines over numbers, both axes log": "x=replicas&group=model,framework&phase=training&precision=fp16&log=xy",
    "lines over days": "x=date&group=framework&agg=median",
    "facets": "group=precision&facet=framework&phase=training",
    "facets relative to a series": "group=precision&facet=phase&baseline=fp32&device=Tesla V100",
    "failures": "group=precision&device=Tesla P100&framework=jax",
    "named series": "series=full: precision=fp32&series=half: precision=fp16; framework=jax&phase=training",
    "bytes": "y=peak_bytes&x=framework&group=phase",
    "shares": "y=limit_share&x=framework&range=jax,pytorch",
    "cost": "y=cost_per_million&x=device&group=framework&phase=training&precision=fp32&model=resnet50",
    "strong scaling of batch": "x=batch&scaling=strong&group=replicas&framework=pytorch",
    "weak scaling": "view=scaling&group=framework",
    "strong scaling, both axes log": "view=scaling&scaling=strong&log=xy",
}
NOT_DRAWN_BY_THE_PAGE = {
    "coverage": "view=coverage&group=precision,phase",
    "comparison": "view=compare&phase=training&series=torch: framework=pytorch&series=flow: framework=tensorflow",
}
"""these are tables on the page, and charts in files"""


@pytest.fixture
def written(inside, store, tmp_path) -> Callable[[str, str], Any]:
    """What the command line writes for an address."""

    def make(query: str, theme: str = "light") -> Any:
        done = inside("chart", "--url", f"?{query}", "--theme", theme, "-o", "out.vl.json", "--store", store.root)
        assert done.code == 0, done.err
        return json.loads((tmp_path / "out.vl.json").read_text())

    return make


def difference(expected: Any, found: Any, exact: bool, skip: tuple[str, ...] = SIZE, path: str = "") -> str:
    """Where they first differ. A report rounds its figures to six digits."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = sorted({*expected, *found} - set(skip))
        missing = object()
        parts = (difference(expected.get(k, missing), found.get(k, missing), exact, skip, f"{path}.{k}") for k in keys)
        return next(filter(None, parts), "")
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        parts = (difference(e, f, exact, skip, f"{path}[{i}]") for i, (e, f) in enumerate(zip(expected, found, strict=True)))
        return next(filter(None, parts), "")
    if (
        isinstance(expected, float)
        and isinstance(found, (int, float))
        and math.isclose(expected, found, rel_tol=0 if exact else 1e-4)
    ):
        return ""
    if not exact and ".words" in path:  # a sentence with rounded figures
        expected, found = (re.sub(r"\d[\d.]*", "1", text) for text in (expected, found))
    return "" if expected == found else f"{path}: the command line says {expected!r}, the browser {found!r}"


@pytest.fixture(scope="module")
def page(chromium) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    context.add_init_script(WATCH)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", VIEWS)
def test_the_page_draws_what_the_command_line_writes(page, server, written, name):
    theme = "dark" if len(name) % 2 else "light"
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server}/guide?{VIEWS[name]}")
    page.wait_for_selector("body[data-ready] .chart svg")
    found = json.loads(page.evaluate("drawn.at(-1)"))
    expected = written(VIEWS[name], theme)
    assert difference(expected, found, exact=True) == ""
    assert page.get_by_role("heading", level=1).inner_text() == expected["title"]["text"]
    assert found["config"]["range"]["category"] == list(THEMES[theme]["series"])


def opened(page: Any, store: Any, path: Path) -> Any:
    """The report of the store, made and shown."""
    from steptime.guide.engine import Guide
    from steptime.guide.sharing.report import report as made

    guide = Guide(store)
    guide.refresh()
    path.write_text(made(guide, "all", details=300)[0])
    page.emulate_media(color_scheme="light")
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready] .chart svg")
    return page


@pytest.fixture(scope="module")
def report(page, store, tmp_path_factory) -> Any:
    return opened(page, store, tmp_path_factory.mktemp("report") / "out.html")


def downloaded(page: Any, name: str) -> Path:
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as wanted:
        page.get_by_role("link", name=name).click()
    return Path(wanted.value.path())


@pytest.mark.parametrize("name", VIEWS | NOT_DRAWN_BY_THE_PAGE)
def test_the_report_draws_and_saves_what_the_command_line_writes(report, written, name):
    query = (VIEWS | NOT_DRAWN_BY_THE_PAGE)[name]
    report.evaluate("query => { document.body.removeAttribute('data-ready'); location.hash = query; }", query)
    report.wait_for_selector("body[data-ready]")
    expected = written(query)
    assert difference(expected, json.loads(downloaded(report, "Chart as Vega-Lite").read_text()), exact=False, skip=()) == ""
    if name in VIEWS:
        assert difference(expected, json.loads(report.evaluate("drawn.at(-1)")), exact=False) == ""


def test_the_report_saves_pictures_without_a_server(report):
    report.evaluate("document.body.removeAttribute('data-ready'); location.hash = 'group=precision';")
    report.wait_for_selector("body[data-ready]")
    assert downloaded(report, "Picture as PNG").read_bytes().startswith(b"\x89PNG")
    picture = downloaded(report, "Picture as SVG").read_text()
    assert picture.startswith("<svg") and "Throughput by model, per precision" in picture


def test_the_steps_of_a_run_are_drawn_as_python_writes_them(page, server, store):
    record = next(r for r in store.read()[0] if r.status == "ok")
    page.emulate_media(color_scheme="light")
    page.goto(f"{server}/guide?view=run&run={record.id}")
    page.wait_for_selector("body[data-ready] .chart svg")
    found = [json.loads(text) for text in page.evaluate("drawn.slice(-2)")]
    expected = [fill(spec, theme_values("light")) for spec in (steps.open_steps(record), steps.open_histogram(record))]
    assert difference(json.loads(json.dumps(expected)), found, exact=True) == ""


def test_the_page_has_the_colours_of_its_charts():
    for theme, start in (("light", ":root {"), ("dark", ':root[data-theme="dark"] {')):
        tokens = dict(re.findall(r"--([\w-]+): (#\w+)", assets.text("guide.css").partition(start)[2].partition("}")[0]))
        colours = THEMES[theme]
        assert (tokens["surface"], tokens["ink"], tokens["muted"]) == (colours["background"], colours["text"], colours["quiet"])
        assert (tokens["line"], tokens["bad"]) == (colours["grid"], colours["bad"])


def test_the_report_draws_as_many_names_as_the_command_line(page, store, written, tmp_path, monkeypatch):
    monkeypatch.setattr(warnings, "MOST_NAMES", 3)
    expected = written("")
    assert len({row["x"] for row in expected["data"]["values"]}) == 3
    shown = opened(page, store, tmp_path / "few.html")
    assert difference(expected, json.loads(shown.evaluate("drawn.at(-1)")), exact=False) == ""
    assert "those with the most runs" in shown.locator("main").inner_text()

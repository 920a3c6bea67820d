"""A chart kind that is added as CONTRIBUTING.md says is drawn by a real Chromium, on the page and in the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guide.web.conftest import Visit
from tests.test_walkthroughs import Copy

pytestmark = pytest.mark.real
STEPTIME = ("-c", "from steptime.cli.main import main; main()")


@pytest.fixture
def copy(tmp_path) -> Copy:
    made = Copy(tmp_path / "copy")
    made.follow("Adding a chart kind")
    return made


@pytest.fixture
def page(chromium, copy, store):
    """Of a guide that has the kind."""
    command = [sys.executable, "-P", *STEPTIME, "guide", "--port", "0", "--no-open", "--json", "--store", store.root]
    environment = {**os.environ, "PYTHONPATH": str(copy.folder / "src")}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert running.stdout
    visit = Visit(chromium.new_page(), json.loads(running.stdout.readline())["url"].removesuffix("/guide"))
    yield visit
    visit.page.close()  # before the server goes, which an open page would complain of
    running.terminate()
    running.wait(60)
    assert visit.complaints == [] and visit.strangers == []


def check(shown) -> None:
    assert shown.get_by_role("heading", level=1).inner_text() == "Runs of each model"
    assert shown.locator(".chart svg").count() == 1
    assert shown.title() == "Runs of each model · steptime"
    tabs = shown.get_by_role("navigation", name="Views").get_by_role("link").all_inner_texts()
    assert tabs == ["Explore", "Scaling", "Coverage", "Runs", "Compare", "Counts"]


def test_the_page_and_the_report_draw_it(page, chromium, copy, store, tmp_path):
    shown = page.open("/guide")
    shown.get_by_role("link", name="Counts").click()
    shown.wait_for_selector("body[data-ready] h1:has-text('Runs of each model')")
    check(page.ready())
    copy.python(*STEPTIME, "report", str(tmp_path / "out.html"), "--store", str(store.root))
    report = Visit(chromium.new_page(), "")
    report.page.goto(f"{Path(tmp_path / 'out.html').as_uri()}#view=counts")
    check(report.ready())
    report.page.close()
    assert report.complaints == []

"""A profile on the page of its run, served and in a report."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.guide.engine import Guide
from steptime.guide.kinds.run import complete_run
from steptime.importing.recognise import read
from steptime.store.files import Store
from tests.guide.web.conftest import Visit
from tests.importing.samples import KINETO

STEPTIME = Path(sys.executable).with_name("steptime")


@pytest.fixture
def profiled(tmp_path):
    """A store with one imported trace, one of whose operators has an unpleasant name; and the id of its record."""
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(KINETO.replace("aten::conv2d", "<img src=x onerror=alert(1)>").encode()))
    (record,) = read(tmp_path / "t.json.gz").records
    store = Store(tmp_path / "store")
    store.put_all([record])
    return store, record.id


def test_the_answer_about_a_run_has_its_profile_once(profiled):
    store, name = profiled
    answer = complete_run(Guide(store), name)
    assert answer["profile"]["source"] == "Kineto"
    assert answer["profile"]["entries"][0]["calls"] >= 1
    assert answer["record"]["profile"] is None


def shown(page):
    card = page.locator(".profile-card")
    assert "time under a profiler" in card.inner_text()
    assert "The device was busy for" in card.inner_text()
    assert card.locator("summary").first.inner_text().startswith("Kernels")
    assert card.locator("details[open] tbody tr").count() >= 1
    meter = card.locator("details[open] meter").first
    assert 0 < float(meter.evaluate("m => m.value")) <= 1
    card.locator("summary").nth(1).click()
    assert card.locator("details[open] tbody tr").count() >= 2


@pytest.mark.real
def test_the_page_of_a_run_and_the_report_show_it(profiled, chromium, tmp_path):
    store, name = profiled
    command = [STEPTIME, "guide", "--port", "0", "--no-open", "--json", "--store", store.root]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    base = json.loads(running.stdout.readline())["url"].removesuffix("/guide")
    context = chromium.new_context(viewport={"width": 1360, "height": 1100})
    try:
        visit = Visit(context.new_page(), base)
        shown(visit.open(f"/guide?view=run&run={name}"))
        assert visit.complaints == [] and visit.strangers == []
        subprocess.run([STEPTIME, "report", tmp_path / "r.html", "--store", store.root], check=True, stdout=subprocess.DEVNULL)
        page = context.new_page()
        page.goto(f"file://{tmp_path / 'r.html'}#view=run&run={name}")
        page.wait_for_selector("body[data-ready] .profile-card")
        shown(page)
    finally:
        context.close()
        running.terminate()
        running.wait(20)

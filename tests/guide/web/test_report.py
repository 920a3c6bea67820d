"""One file, opened from a folder: the same guide, without a server."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from steptime.core.schema import Case, case_key
from steptime.guide.engine import Guide
from steptime.guide.sharing import report
from steptime.store.files import Store
from tests.guide.demo import HOSTILE, failure, record

pytestmark = pytest.mark.real


def test_a_report_opens_from_a_folder_and_its_reader_changes_axes_filters_and_groups(chromium, steptime, store, tmp_path):
    done = steptime("report", "out.html", "--store", store.root, "--title", HOSTILE)
    assert done.code == 0, done.err
    text = (tmp_path / "out.html").read_text()
    assert len(text) < 1_000_000 and HOSTILE not in text
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda m: m.type in ("error", "warning") and said.append(m.text))
    page.on("pageerror", lambda e: said.append(str(e)))
    page.on("request", lambda r: r.url.startswith("http") and said.append(r.url))
    page.goto((tmp_path / "out.html").as_uri())
    page.wait_for_selector("body[data-ready] .chart svg")
    page.get_by_label("Horizontal axis").select_option("framework")
    page.wait_for_url(re.compile("x=framework"))
    page.get_by_label("Group by", exact=True).select_option("precision")
    page.wait_for_url(re.compile("group=precision"))
    page.wait_for_selector("body[data-ready]")
    page.get_by_label("phase: training", exact=True).check()
    page.wait_for_url(re.compile("phase=training"))
    page.wait_for_selector("body[data-ready]")
    assert page.get_by_role("heading", level=1).inner_text() == "Throughput by framework, per precision"
    labels = page.locator(".chart svg .role-legend-label text").all_text_contents()
    assert labels == ["fp32", "fp16"]
    page.go_back()
    page.wait_for_selector("body[data-ready]")
    page.get_by_role("link", name="Runs").click()
    page.locator("tbody a").first.click()
    page.locator(".figure").first.wait_for()
    assert said == []
    page.close()


def test_a_report_brings_the_last_words_of_runs_that_failed(chromium, tmp_path):
    store = Store(tmp_path / "store")
    case = Case("vgg16", "jax", 64, "training", "fp32", "cuda")
    store.put(replace(failure("20261101-100000-00000001", case, "crash", "signal 6"), sweep="s1"))
    for number in range(3):
        store.put(record(f"20261102-100000-0000000{number}", case, 55.0))
    log = store.root / "sweeps" / "s1" / f"vgg16-jax-training-{case_key(case)[:10]}" / "log.txt"
    log.parent.mkdir(parents=True)
    log.write_text("started\n" * 2000 + "<b>free(): invalid pointer</b>\n")
    guide = Guide(store)
    guide.refresh()
    text, runs = report.report(guide, "few", details=1)  # the failure is older than the newest run, and comes all the same
    (tmp_path / "out.html").write_text(text)
    page = chromium.new_page()
    page.goto(f"{(tmp_path / 'out.html').as_uri()}#view=run&run=20261101-100000-00000001")
    page.wait_for_selector("body[data-ready]")
    said = page.locator("pre.log").inner_text()
    assert runs == 4 and said.endswith("<b>free(): invalid pointer</b>\n") and len(said) <= report.LOG_CHARACTERS
    page.close()


def test_repeated_values_are_stored_once_and_figures_rounded():
    assert report.coded(["a", "b", "a", "a"]) == {"d": ["a", "b"], "c": [0, 1, 0, 0]}
    assert report.coded([1.23456789, None]) == [1.23457, None]


def test_nothing_but_the_scripts_of_the_report_may_run():
    policy = report.policy("p{}", "a()", "b()")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy and policy.count("sha256-") == 3

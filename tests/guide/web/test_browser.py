"""The guide as people use it, in a real Chromium. The fixture `visit` also checks that nothing is said on the console and
that no request leaves the host, in every one of these tests."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from steptime.core.schema import Case
from steptime.guide.charts.theme import THEMES
from tests.guide.demo import HOSTILE, record

pytestmark = pytest.mark.real


def query(page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def heading(page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def axis_labels(page) -> str:
    return " ".join(page.locator(".chart svg .role-axis-label text").all_text_contents())


def test_axes_are_chosen_and_the_chart_follows(visit):
    page = visit.open()
    assert heading(page) == "Throughput by model"
    assert "resnet50" in axis_labels(page)
    visit.choose("Horizontal axis", "framework")
    page = visit.choose("Vertical axis", "batch_time_ms")
    assert heading(page) == "Batch time by framework"
    assert query(page) == {"x": ["framework"], "y": ["batch_time_ms"]}
    assert "tensorflow" in axis_labels(page) and "resnet50" not in axis_labels(page)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/guide?phase=training,precision=fp16", "two filters are written 'phase=training&precision=fp16'"),
        ("/guide?series=a: phase=training,precision=fp16", "two filters are written 'phase=training; precision=fp16'"),
        ("/guide?series=a", "a series is written NAME: DIMENSION=VALUE"),
    ],
)
def test_an_address_that_is_no_view_says_so_and_can_be_left(visit, address, words):
    page = visit.open(address)
    assert words in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Start afresh").click()
    page.wait_for_url(lambda url: "=" not in url)
    assert "resnet50" in axis_labels(visit.ready())


def test_an_equals_sign_of_a_value_survives_in_the_address(visit):
    page = visit.open("/guide?phase=training&label.note=a,b%5C=c")
    assert page.get_by_role("alert").count() == 0
    visit.choose("Horizontal axis", "framework")
    assert query(page)["label.note"] == ["a,b\\=c"]


def test_grouping_makes_a_series_of_each_value_in_the_order_people_expect(visit):
    visit.open("/guide?phase=inference")
    page = visit.choose("Group by", "precision")
    assert query(page) == {"phase": ["inference"], "group": ["precision"]}
    legend = page.locator(".chart svg .role-legend-label text").all_text_contents()
    assert [t for t in legend if t in ("fp32", "fp16", "int8")] == ["fp32", "fp16", "int8"]


def test_a_filter_narrows_the_others_and_says_how_many_runs_each_value_leaves(visit):
    page = visit.open()
    page.get_by_label("precision: int8", exact=True).check()
    visit.ready()
    assert query(page) == {"precision": ["int8"]}
    assert page.get_by_label("phase: training").count() == 0  # nobody trains in int8, so it is not offered
    page.get_by_role("button", name="Remove filter precision").click()
    visit.ready()
    assert page.get_by_label("phase: training").count() == 1


def test_a_named_series_has_filters_of_its_own(visit):
    page = visit.open("/guide?phase=training")
    for name, precision in (("full", "fp32"), ("half", "fp16")):
        page.locator("[data-key='chips/add']").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name of the series").fill(name)
        dialog.locator("summary", has_text="precision").click()
        dialog.get_by_label(f"precision: {precision}", exact=True).check()
        dialog.get_by_role("button", name="Add series").click()
        visit.ready()
    assert query(page)["series"] == ["full: precision=fp32", "half: precision=fp16"]
    legend = " ".join(page.locator(".chart svg .role-legend-label text").all_text_contents())
    assert "full" in legend and "half" in legend
    page.get_by_role("button", name="Remove series full").click()
    visit.ready()
    assert query(page)["series"] == ["half: precision=fp16"]


def table_of(page) -> list[list[str]]:
    page.get_by_role("button", name="Table", exact=True).click()
    page.wait_for_selector("table tbody tr")
    return [row.locator("td").all_inner_texts() for row in page.locator("table tbody tr").all()]


def test_a_link_restores_the_view_exactly_for_somebody_else(visit, chromium, server):
    address = "/guide?x=framework&group=precision,phase&agg=median&log=y&device=Tesla%20V100&facet=model"
    page = visit.open(address)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy link").click()
    page.locator(".toast").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    mine = table_of(page)
    other = chromium.new_context().new_page()
    other.goto(link)
    other.wait_for_selector("body[data-ready]")
    assert heading(other) == "Throughput by framework, per precision and phase"
    assert table_of(other) == mine
    assert len(mine) > 20
    other.context.close()


def test_the_back_button_goes_back_one_choice_at_a_time(visit):
    page = visit.open()
    visit.choose("Horizontal axis", "framework")
    visit.choose("Group by", "precision")
    page.go_back()
    visit.ready()
    assert heading(page) == "Throughput by framework"
    page.go_back()
    visit.ready()
    assert heading(page) == "Throughput by model"
    page.go_forward()
    visit.ready()
    assert page.get_by_label("Horizontal axis").input_value() == "framework"


def open_a_point(page) -> None:
    page.locator(".chart svg .mark-rect.role-mark path, .chart svg .mark-symbol.role-mark path").nth(1).click()
    page.locator(".drawer .runrow").first.wait_for()


def test_a_point_leads_to_its_runs_and_a_run_to_everything_about_it(visit):
    page = visit.open("/guide?group=precision&phase=training&framework=pytorch&device=Tesla%20V100")
    open_a_point(page)
    assert page.locator(".drawer .runrow").count() >= 2
    page.locator(".drawer .runrow a").first.click()
    visit.ready()
    assert query(page)["view"] == ["run"]
    assert re.search(
        r"steptime run \w+ --backend pytorch --phase training --batch \d+", page.locator(".command code").inner_text()
    )
    assert "60 steps, the first 3 are warm-up" in page.locator("main").inner_text()
    assert page.locator(".chart svg .role-mark path").count() > 60
    for words in ("Xeon Gold 6230", "8 × Tesla V100", "nothing else of note ran", "samples/s"):
        assert words in page.locator("main").inner_text()


def test_two_runs_are_compared_with_a_verdict_and_what_differs(visit):
    page = visit.open(
        "/guide?view=runs&model=resnet50&phase=training&framework=pytorch,jax&replicas=1&device=Tesla%20V100&precision=fp32&batch=64"
    )
    boxes = page.locator("tbody input[type=checkbox]")
    rows = page.locator("tbody tr").all_inner_texts()
    first, second = next(i for i, r in enumerate(rows) if "pytorch" in r), next(i for i, r in enumerate(rows) if "jax" in r)
    boxes.nth(first).check()
    boxes.nth(second).check()
    page.get_by_role("button", name="Compare 2 runs").click()
    visit.ready()
    assert page.locator(".verdict").inner_text() == "slower"  # JAX is made 12% slower in this store
    differing = page.locator("section.card").nth(1).inner_text()
    assert "framework" in differing and "pytorch" in differing and "jax" in differing


def test_the_view_is_a_csv_and_a_picture_at_its_own_address(visit):
    page = visit.open("/guide?group=precision&phase=inference&device=Tesla%20V100")
    shown = table_of(page)
    visit.ready()
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as wanted:
        page.get_by_role("link", name="Table as CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(wanted.value.path()).read_text())))
    assert len(rows) == len(shown)
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as wanted:
        page.get_by_role("link", name="Picture as SVG").click()
    picture = Path(wanted.value.path()).read_text()
    assert picture.startswith("<svg") and "resnet50" in picture and "<script>" not in picture


def luminance(page) -> float:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def test_it_is_dark_where_the_system_is_and_where_the_reader_says_so(visit):
    page = visit.open()
    assert luminance(page) > 200
    assert page.locator(f'.chart svg path[fill="{THEMES["light"]["series"][0]}"]').count() > 0
    page.emulate_media(color_scheme="dark")
    assert luminance(page) < 60
    page.locator(f'.chart svg path[fill="{THEMES["dark"]["series"][0]}"]').first.wait_for()
    page.get_by_role("button", name="Light colours").click()
    assert luminance(page) > 200
    page.reload()
    visit.ready()
    assert luminance(page) > 200


def test_on_a_narrow_screen_nothing_is_cut_off_and_filters_are_a_drawer(visit):
    visit.page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/guide?group=precision", "/guide?view=scaling", "/guide?view=coverage", "/guide?view=runs"):
        page = visit.open(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
    page = visit.open()
    assert not page.locator("aside.side").is_visible()
    page.get_by_role("button", name="Filters", exact=True).click()
    assert page.locator("aside.side").is_visible()
    page.get_by_label("phase: inference").check()
    visit.ready()
    assert query(page) == {"phase": ["inference"]}
    page.keyboard.press("Escape")
    assert not page.locator("aside.side").is_visible()


def test_the_keyboard_is_enough(visit):
    page = visit.open("/guide?group=precision&phase=inference")
    page.get_by_label("Horizontal axis").focus()
    page.keyboard.type("fram")
    page.wait_for_url(re.compile("x=framework"))
    visit.ready()
    assert page.evaluate("document.activeElement.dataset.key") == "ask/x"  # rebuilding the page did not lose the place
    page.locator(".chart [role=img]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".tip").is_visible()
    page.keyboard.press("Enter")
    page.locator(".drawer .runrow").first.wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".drawer").count() == 0


def test_a_model_called_script_is_shown_and_not_run(visit):
    page = visit.open(f"/guide?view=runs&model={HOSTILE}")
    assert HOSTILE in page.locator("tbody").inner_text()
    page.locator("tbody a").first.click()
    visit.ready()
    assert HOSTILE in heading(page)
    page = visit.open()
    assert HOSTILE in axis_labels(page) or "alert(1)" in axis_labels(page)


def test_failures_are_said_and_never_drawn_as_zero(visit):
    page = visit.open("/guide?framework=jax&phase=training&precision=fp32&device=Tesla%20V100&replicas=1")
    assert "Out of memory: vgg16" in page.locator(".notes").inner_text()
    assert "vgg16" in " ".join(" ".join(row) for row in table_of(page))
    assert "out of memory" in page.locator("table").inner_text()


def test_disturbed_runs_are_left_out_and_can_be_counted(visit):
    page = visit.open("/guide?x=replica_batch&model=resnet50&phase=training&precision=fp32&device=Tesla%20V100&framework=pytorch")
    assert "1 contended run is left out" in page.locator(".notes").inner_text()
    page.get_by_role("button", name="Count them").click()
    visit.ready()
    assert query(page)["contended"] == ["1"]
    assert "left out" not in page.locator(".notes").inner_text()


def test_without_a_run_on_one_device_there_is_no_efficiency(visit):
    page = visit.open("/guide?view=scaling&model=resnet50&group=framework&phase=training&precision=fp16")
    text = page.locator("main").inner_text()
    assert "jax" in text and re.search(r"no run on one device.*jax", text)
    assert "pytorch" in text


def test_a_chart_of_one_panel_fits_its_card(visit):
    page = visit.open("/guide?view=scaling&model=resnet50&framework=jax&phase=training&precision=fp16")
    page.wait_for_selector(".chart svg")
    room, drawn = (page.locator(name).bounding_box()["width"] for name in (".chart", ".chart svg"))
    assert 0.8 * room < drawn <= room


def test_points_are_made_comparable_by_one_click(visit):
    page = visit.open("/guide?group=framework")
    page.click("button:text('Compare like with like')")
    page.wait_for_function("() => !document.body.innerText.includes('Points differ also')")
    assert {"phase", "precision"} <= set(query(page))


def test_coverage_shows_what_was_measured_what_failed_and_what_was_not_run(visit):
    page = visit.open("/guide?view=coverage&group=precision&device=Tesla%20P100")
    assert page.locator(".cell.ok").count() > 3
    assert page.locator(".cell.failed").count() >= 4
    page.locator(".cell.failed").first.click()
    visit.ready()
    assert "unsupported" in page.locator("tbody").inner_text()


def test_records_that_arrive_appear_by_themselves(visit, store):
    page = visit.open("/guide?model=latecomer")
    assert "No runs match" in page.locator("main").inner_text()
    store.put(record("20261116-000000-0000beef", Case("latecomer", "pytorch", 16, device="cuda"), 321.0, day=9))
    page.locator(".chart svg").wait_for(timeout=60_000)
    assert "latecomer" in axis_labels(page)


def test_a_guide_that_does_not_answer_says_so_and_goes_on_when_it_is_back(visit):
    page = visit.open()
    page.route("**/api/**", lambda route: route.abort())
    page.locator("[data-key='tools/range']").click()
    page.locator(".menu", has_text="The guide does not answer").wait_for()
    page.keyboard.press("Escape")
    page.locator("[data-key='chips/add']").click()
    page.locator("dialog", has_text="The guide does not answer").wait_for()
    page.keyboard.press("Escape")
    page.locator("#live", has_text="not answering").wait_for()
    page.unroute("**/api/**")
    page.locator("#live", has_text="live").wait_for()
    assert all("ERR_FAILED" in complaint for complaint in visit.complaints)
    visit.complaints.clear()


def test_the_keyboard_shows_each_point_where_it_was_drawn(visit):
    page = visit.open("/guide?group=precision&phase=inference&device=Tesla%20V100&facet=framework")
    bars = [box.bounding_box() for box in page.locator(".chart svg .mark-rect.role-mark path").all()]
    page.locator(".chart [role=img]").focus()
    said = set()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        tip = page.locator(".tip")
        said.add(tip.inner_text())
        box = tip.bounding_box()
        assert any(abs(box["x"] - (bar["x"] + bar["width"] / 2)) < 20 for bar in bars)
    assert len(said) == 4


def test_an_axis_of_days_is_cut_by_dates(visit):
    page = visit.open("/guide?x=date&group=framework")
    page.get_by_role("button", name="x values…").click()
    page.get_by_label("from this value of x").fill("2026-11-02")
    page.get_by_label("to this value of x").fill("2026-11-04")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile("range="))
    visit.ready()
    assert query(page)["range"] == ["2026-11-02..2026-11-04"]
    assert "2026-11-06" not in axis_labels(page) and "2026-11-04" in axis_labels(page)


def test_a_value_of_the_axis_can_be_left_out(visit):
    page = visit.open("/guide?x=framework")
    page.get_by_role("button", name="x values…").click()
    page.get_by_role("checkbox", name="jax", exact=True).uncheck()
    page.wait_for_url(re.compile("range="))
    visit.ready()
    assert "jax" not in query(page)["range"][0].split(",")
    assert "jax" not in axis_labels(page) and "pytorch" in axis_labels(page)


def test_scaling_has_log_axes_and_can_be_taken_along_as_a_command(visit):
    page = visit.open("/guide?view=scaling&group=framework&model=resnet50")
    page.locator("[data-key='tools/logx/x']").click()
    page.wait_for_url(re.compile("log=x"))
    visit.ready()
    titles = page.locator(".chart svg .role-title-text text").all_text_contents()
    assert [t for t in titles if t] == ["Throughput", "Speed-up", "Efficiency"]
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy as command").click()
    page.locator(".toast").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith("steptime chart --view scaling") and "--log x" in command and "--filter model=resnet50" in command


def test_a_comparison_is_saved_as_a_picture(visit):
    page = visit.open("/guide?view=compare&series=full: precision=fp32&series=half: precision=fp16&phase=training")
    assert page.locator(".verdict").inner_text() == "faster"
    page.get_by_role("button", name="Share").click()
    assert page.get_by_role("link", name="Table as CSV").count() == 0  # a comparison is no table
    with page.expect_download() as wanted:
        page.get_by_role("link", name="Picture as PNG").click()
    assert Path(wanted.value.path()).read_bytes().startswith(b"\x89PNG")


def test_on_a_narrow_screen_small_charts_stand_below_each_other(visit):
    visit.page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/guide?group=precision&facet=framework&phase=training", "/guide?view=scaling&group=framework"):
        page = visit.open(address)
        chart = page.locator(".chart")
        assert chart.evaluate("e => e.scrollWidth <= e.clientWidth"), address
        lefts = {round(box.bounding_box()["x"]) for box in page.locator(".chart svg .role-axis-title text").all()}
        assert len(lefts) <= 4, address

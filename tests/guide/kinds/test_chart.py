"""Specifications are drawn by the real renderer, which refuses what is not Vega-Lite."""

import json

import pytest

from steptime.core.errors import UnknownName
from steptime.core.schema import Steps
from steptime.guide.charts import steps
from steptime.guide.charts.spec_template import fill
from steptime.guide.charts.theme import theme_values
from steptime.guide.kinds import chart
from steptime.guide.kinds.base import kind_of
from steptime.guide.query.results import plain
from steptime.guide.sharing import export
from steptime.guide.sharing.export import rendered
from steptime.guide.view.view import View
from tests.guide.conftest import everything, run


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    from steptime.guide.engine import Guide
    from steptime.store.files import Store

    store = Store(tmp_path_factory.mktemp("charts"))
    store.put_all([*everything(), run(3.0, model="<script>alert(1)</script>")])
    return Guide(store)


VIEWS = [
    "group=precision",
    "group=precision&facet=framework",
    "group=precision&baseline=fp32&log=y",
    "x=replicas&group=model&log=xy",
    "x=date&group=framework&agg=mean",
    "y=limit_share",
    "y=peak_bytes&x=precision",
    "model=nothing",
    "view=scaling",
    "view=scaling&model=nothing",
    "view=coverage&group=precision",
    "view=compare&series=a: framework=JAX&series=b: framework=PyTorch",
]


@pytest.mark.parametrize("query", VIEWS)
@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_answer_can_be_drawn(guide, query, look):
    svg = rendered(guide.answer(View.parse(query)), "svg", look).decode()
    assert svg.startswith("<svg")
    assert "<script>" not in svg


def test_of_a_great_many_names_those_with_most_runs_are_drawn_and_it_is_said(guide_of):
    once = [run(float(number + 1), model=f"kernel {number:03}") for number in range(60)]
    often = [run(speed, model=model) for model in ("resnet50", "alexnet") for speed in (100.0, 101.0)]
    failed = [run(None, "crash", model="a failure") for _ in range(9)]
    guide = guide_of(*once, *often, *failed)
    found = guide.answer(View.parse(""))
    shown = chart.values(found)["xs"]
    assert len(shown) == 40 and shown[-1] == "resnet50" and "alexnet" in shown and "a failure" not in shown
    assert {row["x"] for row in chart.rows(found)} == set(shown)
    assert "40 of 63 models are drawn, those with the most runs; filter to choose, the table has all" in map(str, found.warnings)
    assert len(found.points) == 63
    names = ",".join(f"kernel {number:03}" for number in range(50))
    chosen = guide.answer(View.parse(f"range={names}"))
    assert len(chart.values(chosen)["xs"]) == 50 and not any(w.code == "names_cut" for w in chosen.warnings)


def spec_of(guide, query):
    answer = guide.answer(View.parse(query))
    return kind_of(answer).spec(answer)


def drawn_text(guide, query):
    return rendered(guide.answer(View.parse(query)), "svg").decode()


def test_what_has_no_figure_is_written_in_words_and_not_drawn_as_zero(guide):
    query = "group=precision&framework=PyTorch"
    text = drawn_text(guide, query)
    assert "out of memory" in text and "not run" in text
    rows = chart.rows(guide.answer(View.parse(query)))
    assert all(row["value"] is None for row in rows if row["status"] != "ok")


def test_titles_say_what_is_shown_and_which_way_is_better(guide):
    text = drawn_text(guide, "y=batch_time_ms&group=precision&phase=training")
    for words in ("Batch time by model", "lower is better", "batch time (ms)", "phase: training", "precision"):
        assert words in text


def test_relative_charts_have_the_geometric_mean(guide):
    assert "geometric mean" in drawn_text(guide, "group=precision&baseline=fp32&framework=PyTorch&replicas=1")


def test_values_of_x_keep_their_order(guide):
    spec = spec_of(guide, "x=precision&group=model")
    assert spec["layer"][0]["encoding"]["x"]["sort"] == ["fp64", "fp32", "fp16", "int8"]


def test_log_axes_have_points_and_no_end_of_an_interval_at_zero(guide):
    spec = spec_of(guide, "group=precision&log=y&agg=mean&framework=PyTorch&replicas=1")
    assert all(layer["mark"]["type"] != "bar" for layer in spec["layer"])
    assert "max(datum.low, datum.value / 100)" in json.dumps(spec["transform"])


def test_specifications_are_plain_json_without_addresses_of_data(guide):
    for query in VIEWS:
        text = json.dumps(spec_of(guide, query), allow_nan=False)
        assert '"url"' not in text
        assert '"$"' not in text and '"$if"' not in text  # every slot is filled


def test_the_suffix_decides_what_is_written(guide):
    result = guide.answer(View.parse("group=precision"))
    assert rendered(result, "png").startswith(b"\x89PNG")
    assert rendered(result, "pdf").startswith(b"%PDF")
    header, *lines = rendered(result, "csv").decode().splitlines()
    assert header.startswith("facet,series,x,value,low,high,runs")
    assert len(lines) == len(result.points)
    assert json.loads(rendered(result, "json")) == json.loads(json.dumps(plain(result)))
    assert json.loads(rendered(result, "vl.json"))["$schema"].endswith("vega-lite/v5.json")
    assert export.suffix_of("a/b.vl.json") == "vl.json"
    with pytest.raises(UnknownName, match="csv, json, pdf, png, svg"):
        export.suffix_of("out.gif")


def complete(spec):
    return fill(spec, {**theme_values("light"), "titled": True, "fitted": False, "width": 760, "height": 220})


def test_the_steps_of_a_run_show_warm_up_and_are_thinned_to_what_matters():
    from dataclasses import replace

    seconds = [0.5] * 3 + [0.01] * 20_000
    seconds[7777] = 0.09
    record = replace(run(10.0), steps=Steps(seconds, 3, "", "steps"))
    spec = complete(steps.open_steps(record))
    rows = spec["data"]["values"]
    assert len(rows) <= steps.MOST_STEPS
    assert any(row["ms"] == pytest.approx(90) for row in rows)
    drawn = export.picture(spec, "svg").decode()
    assert drawn.startswith("<svg") and "warm-up" in drawn and "steady" in drawn
    warm_up = sum(row["step"] <= 3 for row in rows)
    assert drawn.count(f'fill="{theme_values("light")["second"]}"') == warm_up + 2  # + legend and band
    assert sum(row["steps"] for row in complete(steps.open_histogram(record))["data"]["values"]) == 20_000
    assert export.picture(complete(steps.open_histogram(run(10.0))), "svg").startswith(b"<svg")

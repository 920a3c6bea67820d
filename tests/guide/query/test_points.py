import math
import statistics
from dataclasses import replace

import pytest

from steptime.core.errors import UnknownName
from steptime.guide.kinds.base import kind_of
from steptime.guide.view.view import View
from tests.guide.conftest import everything, run, without_interval


def runs_view(result, point):
    """The view of the runs behind a point, as the page makes it from what the answer says of its series."""
    view = result.view
    own = {view.x: (point.x,), **({view.facet: (point.facet,)} if view.facet else {})}
    filters = {**dict(result.selects[point.series]), **own}
    return View(kind="runs", scaling=view.scaling, contended=view.contended, filters=tuple(sorted(filters.items())))


def texts(answer):
    return [warning.text for warning in answer.warnings]


def values(result, series=""):
    return {p.x: p.value for p in result.points if p.series == series}


def test_the_best_run_is_the_default_whatever_best_means(guide_of):
    guide = guide_of(run(100.0), run(120.0), run(80.0))
    assert values(guide.answer(View.of(x="model"))) == {"resnet50": 120.0}
    assert values(guide.answer(View.of(x="model", y="batch_time_ms")))["resnet50"] == pytest.approx(32e3 / 120)
    assert values(guide.answer(View.of(x="model", agg="min"))) == {"resnet50": 80.0}
    assert values(guide.answer(View.of(x="model", agg="mean"))) == {"resnet50": pytest.approx(100.0)}
    assert values(guide.answer(View.of(x="model", agg="median"))) == {"resnet50": 100.0}


def test_the_interval_is_that_of_the_run_that_is_shown(guide_of):
    guide = guide_of(run(100.0), run(120.0))
    (point,) = guide.answer(View.of(x="model")).points
    assert (point.low, point.high) == (pytest.approx(120 * 0.98), pytest.approx(120 * 1.02))
    (point,) = guide.answer(View.of(x="model", y="batch_time_ms")).points
    assert (point.low, point.high) == (pytest.approx(32e3 / 120 / 1.02), pytest.approx(32e3 / 120 / 0.98))
    (point,) = guide.answer(View.of(x="model", agg="mean")).points
    half = 12.706 * statistics.stdev([100, 120]) / math.sqrt(2)
    assert point.low == max(0, 110 - half)
    assert point.high == pytest.approx(110 + half, rel=1e-3)


def test_a_mean_over_configurations_has_no_interval_and_says_what_it_mixes(guide_of):
    guide = guide_of(*[run(100.0, model="a")] * 1, run(120.0, model="a"), run(300.0, model="a", backend="jax"))
    result = guide.answer(View.of(x="model", agg="mean"))
    (point,) = result.points
    assert point.value == pytest.approx((110 + 300) / 2), "each configuration counts once, however often it was run"
    assert (point.low, point.high) == (None, None)
    assert point.mixes == {"framework": 2}
    assert texts(result) == ["a point averages up to 2 frameworks; filter or group by them to compare like with like"]
    assert guide.answer(View.of(x="model", group="framework")).warnings == ()


def test_failures_are_statuses_and_never_zero(guide_of):
    guide = guide_of(run(100.0, model="a"), run(None, "out_of_memory", model="b"), run(None, "crash", model="b", day=2))
    result = guide.answer(View.of(x="model", group="precision"))
    (b,) = [p for p in result.points if p.x == "b"]
    assert (b.value, b.runs, b.statuses) == (None, 0, {"out_of_memory": 1, "crash": 1})
    assert b.status == "out_of_memory"


def test_combinations_that_were_never_run_are_said_to_be_so(guide_of):
    guide = guide_of(run(1.0, model="a"), run(2.0, model="b", precision="fp16"))
    result = guide.answer(View.of(x="model", group="precision"))
    assert [(p.series, p.x, p.status) for p in result.points] == [
        ("fp32", "a", "ok"),
        ("fp32", "b", "not run"),
        ("fp16", "a", "not run"),
        ("fp16", "b", "ok"),
    ]


def test_contended_runs_are_left_out_and_counted_unless_they_are_asked_for(guide_of):
    guide = guide_of(run(100.0), run(900.0, verdict="contended"), run(5.0, verdict="contended", model="b"))
    result = guide.answer(View.of(x="model"))
    assert values(result) == {"b": None, "resnet50": 100.0}
    assert result.contended == 2
    assert [p.status for p in result.points] == ["contended", "ok"]
    assert "2 contended runs are left out" in texts(result)[0]
    for agg, expected in (("best", 900.0), ("mean", 500.0), ("median", 500.0)):
        (_, point) = guide.answer(View.of(x="model", contended=True, agg=agg)).points
        assert (point.value, point.configurations, point.runs) == (expected, 1, 2)


def test_batch_means_replica_or_effective_as_the_scaling_says(guide_of):
    guide = guide_of(run(100.0, batch=32), run(180.0, batch=32, devices=2), run(170.0, batch=16, devices=2))
    weak = guide.answer(View.of(x="batch", group="replicas", scaling="weak"))
    strong = guide.answer(View.of(x="batch", group="replicas", scaling="strong"))
    assert values(weak, "2") == {"16": 170.0, "32": 180.0}
    assert values(strong, "2") == {"32": 170.0, "64": 180.0}
    assert values(guide.answer(View.of(x="replicas", scaling="strong", filters={"batch": 32}))) == {"1": 100.0, "2": 170.0}


def test_named_series_have_filters_of_their_own_on_top_of_those_of_the_view(guide_of):
    guide = guide_of(*everything())
    view = View.of(
        x="model",
        filters={"precision": "fp32", "model": ["alexnet", "vgg16"]},
        series={"torch": {"framework": "PyTorch"}, "jax on vgg": {"framework": "JAX", "model": ["vgg16", "resnet50"]}},
    )
    result = guide.answer(view)
    assert result.series == ("torch", "jax on vgg")
    assert values(result, "torch") == {"alexnet": pytest.approx(816), "vgg16": pytest.approx(61.2)}
    assert values(result, "jax on vgg") == {"alexnet": None, "vgg16": pytest.approx(67.32)}


def test_everything_can_be_shown_relative_to_a_series_with_the_geometric_mean(guide_of):
    guide = guide_of(*everything())
    view = View.of(x="model", group="precision", baseline="fp32", filters={"framework": "PyTorch", "replicas": 1})
    result = guide.answer(view)
    assert values(result, "fp16")["vgg16"] == pytest.approx(1.8)
    assert values(result, "fp32")["vgg16"] == 1.0
    (mean,) = [m for m in result.means if m.series == "fp16"]
    assert (mean.value, mean.n, mean.of) == (pytest.approx(1.8), 3, 4)
    (point,) = [p for p in result.points if p.series == "fp16" and p.x == "vgg16"]
    assert point.low == pytest.approx(1.8 * math.exp(-math.hypot(math.log(1 / 0.98), math.log(1.02))))
    assert {p.status for p in result.points if p.series == "fp64"} == {"not run", "out_of_memory"}
    with pytest.raises(UnknownName, match="unknown baseline 'fp128'; known: fp16, fp32, fp64"):
        guide.answer(view.but(baseline="fp128"))


def test_without_series_the_baseline_is_a_value_of_x(guide_of):
    guide = guide_of(run(50.0, model="a"), run(100.0, model="b"))
    assert values(guide.answer(View.of(x="model", baseline="a"))) == {"a": 1.0, "b": 2.0}


def test_a_range_chooses_and_orders_values_of_x(guide_of):
    guide = guide_of(*(run(float(b), batch=b) for b in (8, 16, 32, 64)), run(3.0, model="b"))
    assert list(values(guide.answer(View.of(x="batch", range="16..32")))) == ["16", "32"]
    assert guide.answer(View.of(x="model", range=["resnet50", "b", "nowhere"])).xs == ("resnet50", "b")


def test_filters_take_ranges_of_numbers_and_of_dates(guide_of):
    guide = guide_of(*(run(float(d), batch=d, day=d) for d in (1, 2, 3, 10)))
    assert guide.answer(View.of(filters={"batch": ["2..3", "10"]})).runs == 3
    assert guide.answer(View.of(filters={"date": "2026-01-03.."})).runs == 2
    assert guide.answer(View.of(filters={"date": "2026-01"})).runs == 4
    assert list(values(guide.answer(View.of(x="date", filters={"verdict": "clean"})))) == [
        "2026-01-01", "2026-01-02", "2026-01-03", "2026-01-10",
    ]  # fmt: skip


def test_labels_are_dimensions_and_a_price_makes_a_cost(guide_of):
    guide = guide_of(run(100.0, labels={"site": "psc", "price_per_hour": "3.60"}), run(50.0, labels={"site": "a, b"}))
    result = guide.answer(View.of(x="label.site"))
    assert values(result) == {"a, b": 50.0, "psc": 100.0}
    cost = guide.answer(View.of(x="label.site", y="cost_per_million"))
    assert values(cost) == {"a, b": None, "psc": pytest.approx(10.0)}
    assert "1 point has no label price_per_hour" in texts(cost)[0]
    assert guide.labels() == ["label.price_per_hour", "label.site"]


def test_speedup_needs_a_run_on_one_device(guide_of):
    guide = guide_of(*(run(100 * n**0.5, devices=n, model="a") for n in (1, 4)), run(500.0, devices=4, model="b"))
    speedup = guide.answer(View.of(x="model", y="speedup", filters={"replicas": 4}))
    assert values(speedup) == {"a": pytest.approx(2.0), "b": None}
    assert "1 point has no run on one device" in texts(speedup)[0]
    efficiency = guide.answer(View.of(x="model", y="efficiency", filters={"replicas": 4}))
    assert values(efficiency)["a"] == pytest.approx(0.5)
    (a, _) = efficiency.points
    assert a.low == pytest.approx(0.5 * math.exp(-math.hypot(math.log(1 / 0.98), math.log(1.02))))


def test_the_runs_behind_a_point_are_found_again(guide_of):
    guide = guide_of(*everything())
    view = View.of(x="model", group="precision", facet="framework", filters={"replicas": "1"})
    result = guide.answer(view)
    for point in result.points:
        found = guide.runs(runs_view(result, point))
        assert found.total == sum(point.statuses.values()) + point.contended
        assert all(row["model"] == point.x and row["precision"] == point.series for row in found.rows)
    row = guide.runs(View(), limit=1).rows[0]
    assert guide.record(row["id"]).id == row["id"]
    with pytest.raises(UnknownName, match=r"unknown run '\.\./x'"):
        guide.record("../x")


def test_counts_of_a_filter_leave_out_its_own_dimension(guide_of):
    guide = guide_of(*everything())
    facets = {
        f.dimension: {v.value: (v.runs, v.chosen) for v in f.values}
        for f in guide.facets(View.of(filters={"precision": "fp16", "model": "vgg16"}))
    }
    assert facets["precision"] == {"fp64": (1, False), "fp32": (6, False), "fp16": (6, True)}
    assert facets["model"] == {"alexnet": (6, False), "resnet50": (6, False), "vgg16": (6, True)}
    assert facets["framework"] == {"JAX": (3, False), "PyTorch": (3, False)}
    assert facets["status"] == {"ok": (6, False)}


@pytest.mark.parametrize("query", ["", "model=vgg16&precision=fp16", "replicas=2..", "framework=JAX&date=2026-01-02"])
def test_choosing_any_value_that_a_filter_offers_leaves_as_many_runs_as_it_says(full_guide, query):
    guide, view = full_guide, View.parse(query)
    for facet in guide.facets(view, ["model", "precision", "framework", "date"]):
        for value in facet.values:
            chosen = view.but(filters=tuple(sorted({**dict(view.filters), facet.dimension: (value.value,)}.items())))
            left_out = guide.runs(
                chosen.but(filters=tuple(sorted({**dict(chosen.filters), "verdict": ("contended",)}.items())))
            ).total
            assert guide.runs(chosen).total - left_out == value.runs


@pytest.fixture(scope="module")
def full_guide(tmp_path_factory):
    from steptime.guide.engine import Guide
    from steptime.store.files import Store

    store = Store(tmp_path_factory.mktemp("full"))
    store.put_all(everything())
    return Guide(store)


def test_coverage_tells_measured_from_failed_from_never_run(guide_of):
    guide = guide_of(*everything())
    found = guide.answer(View.of(kind="coverage", x="model", group="precision"))
    cells = {(c.row, c.x): c.status for c in found.cells}
    assert cells["fp64", "vgg16"] == "out_of_memory"
    assert cells["fp64", "alexnet"] == "not run"
    assert cells["int8", "resnet50"] == "unsupported"
    assert cells["fp32", "alexnet"] == "ok"
    assert sum(found.counts.values()) == len(found.cells) == len(found.xs) * len(found.rows)


def test_scaling_has_an_ideal_line_only_where_there_is_a_run_on_one_device(guide_of):
    guide = guide_of(
        *(run(100 * n**0.5, devices=n, model="a") for n in (1, 2, 4)),
        *(run(100.0 * n, devices=n, model="b") for n in (2, 4)),
        run(None, "out_of_memory", devices=8, model="b"),
        run(7.0, model="only one"),
    )
    found = guide.answer(View.of(kind="scaling"))
    a, b = found.lines
    assert (a.series, b.series) == ("a", "b")
    assert [(p.devices, p.ideal, p.speedup) for p in a.points] == [
        (1, 100.0, 1.0), (2, 200.0, pytest.approx(2**0.5)), (4, 400.0, pytest.approx(2.0)),
    ]  # fmt: skip
    assert a.points[2].efficiency == pytest.approx(0.5)
    assert b.base is None
    assert [(p.throughput, p.ideal, p.speedup, p.status) for p in b.points] == [
        (200.0, None, None, "ok"), (400.0, None, None, "ok"), (None, None, None, "out_of_memory"),
    ]  # fmt: skip
    assert texts(found) == ["1 line has no run on one device, so no speed-up, no efficiency and no ideal line"]
    (hidden, _) = guide.answer(View.of(kind="scaling", filters={"replicas": "2..4"})).lines
    assert [p.devices for p in hidden.points] == [2, 4]
    assert hidden.base == 100.0


def test_an_empty_store_has_empty_answers(guide_of, store):
    from steptime.guide.engine import Guide

    guide = Guide(store)
    view = View.of(x="model", group="precision")
    assert guide.answer(view).points == ()
    assert guide.answer(view.but(kind="coverage")).cells == ()
    assert guide.answer(view.but(kind="scaling")).lines == ()
    assert guide.runs(view).total == 0
    assert all(not f.values for f in guide.facets(view))


def test_text_from_outside_is_data(guide_of):
    evil = "'); DROP TABLE rollup; --<script>"
    guide = guide_of(run(5.0, model=evil), run(6.0, labels={"x": evil}))
    assert values(guide.answer(View.of(filters={"model": evil}))) == {evil: 5.0}
    assert values(guide.answer(View.of(x="label.x", filters={"label.x": evil}))) == {evil: 6.0}
    assert guide.answer(View.of(filters={"server": evil})).points == ()
    assert guide.size == 2


@pytest.mark.parametrize("same_configuration", [True, False])
def test_the_fastest_run_without_an_interval_gets_no_other_runs_interval(guide_of, same_configuration):
    version = "2.0" if same_configuration else "2.1"
    wide = run(100.0)
    wide = replace(wide, summary=replace(wide.summary, ci_low=50.0, ci_high=200.0))
    [point] = guide_of(wide, without_interval(run(150.0, version=version))).answer(View()).points
    assert (point.value, point.low, point.high) == (150.0, None, None)
    [slowest] = guide_of().answer(View.of(agg="min")).points
    assert (slowest.value, slowest.low) == (100.0, 50.0)


def test_a_speed_up_of_runs_without_intervals_has_none(guide_of):
    guide = guide_of(run(100.0, version="2.0"), without_interval(run(110.0)), run(200.0, devices=2))
    [_, two] = guide.answer(View.of(x="replicas", y="speedup")).points
    assert (round(two.value, 3), two.low) == (1.818, None)


def test_an_interval_that_does_not_hold_its_value_is_none(guide_of):
    odd = run(100.0)
    [point] = guide_of(replace(odd, summary=replace(odd.summary, ci_low=40.0, ci_high=50.0))).answer(View()).points
    assert (point.value, point.low, point.high) == (100.0, None, None)


def test_points_say_which_configuration_they_are_and_a_difference_is_warned_of(guide_of):
    guide = guide_of(run(100.0, model="alexnet", batch=128), run(200.0, model="alexnet", batch=32), run(50.0, batch=32))
    answer = guide.answer(View())
    assert [p.configuration for p in answer.points] == [{"image_size": "227"}, {"image_size": "224"}]
    answer = guide.answer(View.of(agg="min"))
    assert [p.configuration["replica_batch"] for p in answer.points] == ["128", "32"]
    assert answer.shared["device"] == "Fast CPU"
    [text] = [w.text for w in answer.warnings if w.code == "different"]
    assert text.startswith("points differ also in replica batch size (32, 128); ")
    narrowed = guide.alike(View.of(agg="min"))
    assert dict(narrowed.filters) == {"replica_batch": ("32",)}
    assert not guide.answer(narrowed).warnings


def test_what_follows_from_what_is_shown_is_no_surprise(guide_of):
    guide = guide_of(run(100.0), run(120.0, backend="jax", version="0.4"))
    assert not guide.answer(View.of(x="framework")).warnings
    guide = guide_of(run(130.0, version="2.1", model="vgg16"))
    assert [w.code for w in guide.answer(View.of(x="model", group="framework")).warnings] == ["different"]


def test_relative_to_a_series_only_points_of_one_x_are_compared(guide_of):
    models = {"alexnet": 128, "vgg16": 32}
    runs = [run(1.0, model=m, batch=b, precision=p) for m, b in models.items() for p in ("fp32", "fp16")]
    guide = guide_of(*runs)
    assert [w.code for w in guide.answer(View.of(group="precision")).warnings] == ["different"]
    assert not guide.answer(View.of(group="precision", baseline="fp32")).warnings
    other = guide_of(run(3.0, model="vgg16", batch=64, precision="fp16"))
    assert [w.code for w in other.answer(View.of(group="precision", baseline="fp32")).warnings] == ["mixed", "different"]


@pytest.mark.parametrize("agg", ["mean", "median"])
def test_training_and_inference_are_never_averaged(guide_of, agg):
    guide = guide_of(run(100.0), run(300.0, phase="inference"))
    answer = guide.answer(View.of(agg=agg))
    assert [(p.value, p.low, p.status) for p in answer.points] == [(None, None, "not averaged")]
    assert "not_averaged" in {w.code for w in answer.warnings}
    assert [p.value for p in guide.answer(View.of(agg=agg, group="phase")).points] == [100.0, 300.0]
    relative = guide_of(run(110.0, precision="fp16"), run(600.0, phase="inference", precision="fp16"))
    assert relative.answer(View.of(x="phase", group="precision", baseline="fp32")).means == ()


def test_an_unknown_value_is_no_second_one(guide_of):
    """The word for a run that does not say is not counted beside the one of a run that does."""
    [point] = guide_of(run(100.0), replace(run(120.0), software=None)).answer(View()).points
    assert "framework_version" not in point.mixes


def test_devices_that_all_points_share_are_in_the_subtitle(guide_of):
    guide = guide_of(run(800.0, devices=8))
    view = View()
    assert "8 devices each" in kind_of(guide.answer(view)).subtitle(guide.answer(view))

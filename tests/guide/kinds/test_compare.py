from dataclasses import replace

import pytest

from steptime.core.errors import UsageError
from steptime.guide.view.view import View
from tests.guide.conftest import run, without_interval


def sides(**series):
    return View.of(kind="compare", series=series)


def test_runs_that_differ_for_sure_are_faster_or_slower_and_what_differs_is_named(guide_of):
    a, b = run(100.0), run(150.0, precision="fp16", version="2.1")
    found = guide_of(a, b).answer(View.of(kind="compare", runs=[a.id, b.id]))
    (difference,) = found.differences
    assert difference.verdict == "faster"
    assert difference.ratio == pytest.approx(1.5)
    assert difference.low < 1.5 < difference.high
    assert "single runs" in difference.basis
    named = {d.name: d.values for d in found.differing}
    assert named["precision"] == ("fp32", "fp16")
    assert named["framework_version"] == ("2.0", "2.1")
    back = guide_of().answer(View.of(kind="compare", runs=[b.id, a.id])).differences[0]
    assert back.verdict == "slower"
    assert back.ratio == pytest.approx(1 / 1.5)


def test_less_time_is_faster(guide_of):
    a, b = run(100.0), run(150.0)
    found = guide_of(a, b).answer(View.of(kind="compare", y="batch_time_ms", runs=[a.id, b.id]))
    assert found.differences[0].verdict == "faster"
    assert found.differences[0].ratio < 1


def test_within_the_noise_it_is_undecided_and_within_the_margin_the_same(guide_of):
    noisy = [run(s, model="a") for s in (90.0, 110.0, 100.0)] + [
        run(s, model="a", precision="fp16") for s in (95.0, 120.0, 105.0)
    ]
    calm = [run(s, model="b") for s in (100.0, 100.1, 99.9)] + [
        run(s, model="b", precision="fp16") for s in (100.2, 100.3, 100.1)
    ]
    guide = guide_of(*noisy, *calm)
    verdicts = [
        guide.answer(sides(one={"model": m, "precision": "fp32"}, two={"model": m, "precision": "fp16"})).differences[0].verdict
        for m in ("a", "b")
    ]
    assert verdicts == ["undecided", "same"]


def test_groups_are_compared_configuration_by_configuration(guide_of):
    guide = guide_of(
        *(
            run(s * f, model=m, backend=b)
            for m, s in (("a", 1000.0), ("b", 1.0))
            for b, f in (("pytorch", 1.0), ("jax", 1.2))
            for _ in "12"
        ),
        run(9999.0, model="only torch"),
    )
    found = guide.answer(sides(torch={"framework": "PyTorch"}, jax={"framework": "JAX"}))
    assert found.differences[0].ratio == pytest.approx(1.2)
    assert "2 configurations that both have" in found.differences[0].basis
    apart = guide.answer(sides(x={"model": "a"}, y={"model": "only torch", "framework": "JAX"}))
    assert apart.differences[0].verdict == "no figure"


def test_a_failed_run_is_not_a_figure(guide_of):
    a, b = run(100.0), run(None, "out_of_memory")
    found = guide_of(a, b).answer(View.of(kind="compare", runs=[a.id, b.id]))
    assert found.sides[1].status == "out_of_memory"
    assert found.differences[0].verdict == "no figure"


def test_one_side_is_not_enough(guide_of):
    with pytest.raises(UsageError, match="at least two"):
        guide_of(run(1.0)).answer(sides(a={"model": "resnet50"}))
    with pytest.raises(UsageError, match="measure of single runs"):
        guide_of().answer(View.of(kind="compare", y="speedup", series={"a": {}, "b": {}}))


def test_one_run_has_the_interval_that_it_has_everywhere(guide_of):
    one = run(1450.0)
    one = replace(one, summary=replace(one.summary, ci_low=1371.0, ci_high=1538.0))
    other = run(900.0)
    guide = guide_of(one, other)
    [side, _] = guide.answer(View.of(kind="compare", runs=[one.id, other.id])).sides
    [point] = guide.answer(View()).points
    assert (side.low, side.high) == (point.low, point.high) == (1371.0, 1538.0)


@pytest.mark.parametrize(("speed", "verdict"), [(1100.0, "faster"), (151.0, "faster"), (120.0, "undecided"), (9.0, "slower")])
def test_without_intervals_a_factor_of_one_and_a_half_decides(guide_of, speed, verdict):
    bare = [without_interval(run(100.0)), without_interval(run(speed))]
    guide = guide_of(*bare)
    [difference] = guide.answer(View.of(kind="compare", runs=[r.id for r in bare])).differences
    assert difference.verdict == verdict
    assert "no interval" in difference.words


def test_training_and_inference_are_compared_and_not_averaged(guide_of):
    def both(version, training, inference):
        for speed, phase in ((training, "training"), (inference, "inference")):
            yield from (run(speed * (1 + i / 1000), version=version, phase=phase) for i in range(4))

    guide = guide_of(*both("1", 100.0, 300.0), *both("2", 120.0, 240.0))
    series = {"old": {"framework_version": "1"}, "new": {"framework_version": "2"}}
    answer = guide.answer(View.of(kind="compare", series=series))
    assert [(s.value, s.status) for s in answer.sides] == [(None, "not averaged")] * 2
    [difference] = answer.differences
    assert difference.verdict == "undecided"
    assert "apart: inference" in difference.basis and "training" in difference.basis

"""Scaling: what may be one line, what it is measured against, and what must be said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.core.schema import Accelerator, Allocation, Case, Printed, Source
from steptime.guide.view.view import View
from steptime.plan.expand import Expansion, expanded
from steptime.plan.plan import Plan
from tests.guide.conftest import MACHINE, run

VIEW = View.of(kind="scaling")


def codes(answer) -> set[str]:
    return {warning.code for warning in answer.warnings}


def efficiencies(answer) -> list[list[float | None]]:
    return [[p.efficiency and round(p.efficiency, 9) for p in line.points] for line in answer.lines]


def on_gpu(record):
    gpu = replace(MACHINE, accelerators=[Accelerator("Tesla K80")])
    return replace(record, machine=gpu, case=replace(record.case, device="cuda"))


def test_systems_that_a_label_tells_apart_are_lines_of_their_own(guide_of):
    fast = [run(400.0 * n, devices=n, labels={"gpu": "v100"}) for n in (1, 2, 4)]
    slow = [run(200.0 * n, devices=n, labels={"gpu": "k80"}) for n in (2, 4)]
    guide = guide_of(*fast, *slow, run(200.0, labels={"gpu": "k80"}))
    for group in ((), "label.gpu"):
        answer = guide.answer(View.of(kind="scaling", group=group))
        assert [line.series for line in answer.lines] == ["k80", "v100"]
        assert efficiencies(answer) == [[1, 1, 1], [1, 1, 1]]
    assert guide.answer(View.of(x="label.gpu", y="efficiency", filters={"replicas": 4})).points[0].value == pytest.approx(1.0)


def test_labels_have_any_name(guide_of):
    """Those that no address can name too, and those that are paths to the database."""
    for name in ('a"b', "$", "/x", "", "a'b", "[0]", "a=b"):
        model = f"m{ord(name[:1] or ' ')}"
        guide = guide_of(*(run(100.0 * n, devices=n, model=model, labels={name: v}) for n in (1, 2) for v in "xy"))
        assert efficiencies(guide.answer(VIEW))[-1] == [1, 1]
        assert guide.answer(View.of(x="replicas", y="efficiency", agg="min")).points[-1].value == 1


def test_a_price_may_grow_with_the_devices(guide_of):
    answer = guide_of(*(run(100.0 * n, devices=n, labels={"price_per_hour": str(n)}) for n in (1, 2))).answer(VIEW)
    assert efficiencies(answer) == [[1, 1]]


def test_servers_are_systems_of_their_own_unless_a_scheduler_chose_them(guide_of):
    one, other = (replace(MACHINE, host=host) for host in ("node1", "node2"))

    def pair():
        return [replace(run(100.0), machine=one), replace(run(400.0, devices=2), machine=other)]

    answer = guide_of(*pair(), *(replace(r, allocation=Allocation("psc", "1", "gpu")) for r in pair())).answer(VIEW)
    assert [(line.series, line.base) for line in answer.lines] == [("node2", None), ("psc gpu", 100.0)]
    assert codes(answer) >= {"lines_without_single_device", "above_ideal"}


def test_the_default_threads_of_a_plan_make_a_line_with_a_base(guide_of):
    plan = Plan("p", constants={"model": ["resnet50"], "batch": [32]}, axes={"devices": [1, 2, 4], "phase": ["training"]})
    cases = expanded(Expansion(plan, cores=8))
    assert [c.threads for c in cases] == [2, 2, 2]
    answer = guide_of(*(run(50.0 * c.devices, devices=c.devices, threads=c.threads) for c in cases)).answer(VIEW)
    assert efficiencies(answer) == [[1, 1, 1]]


def test_threads_must_agree_on_cpus_and_need_not_beside_gpus(guide_of):
    def pair():
        return [run(100.0 * n, devices=n, threads=8 // n) for n in (1, 2)]

    answer = guide_of(*pair(), *map(on_gpu, pair())).answer(VIEW)
    assert efficiencies(answer) == [[None], [1, 1]]
    assert codes(answer) == {"lines_without_single_device"}
    more = on_gpu(run(150.0, devices=2, threads=1))
    assert "mixed" in codes(guide_of(more).answer(VIEW))


def test_an_interconnect_is_measured_against_a_run_that_needs_none(guide_of):
    def imported(speed, devices, interconnect=""):
        source = Source("tool", "f", 1, "0" * 64, server="dgx", device="A100", interconnect=interconnect)
        record = run(speed, devices=devices)
        return replace(record, origin="tool", source=source, summary=None, printed=Printed(mean_speed=speed))

    answer = guide_of(imported(100, 1), imported(190, 2, "NVLink"), imported(150, 2, "PCIe")).answer(VIEW)
    assert [(line.series, line.base) for line in answer.lines] == [("NVLink", 100.0), ("PCIe", 100.0)]
    assert efficiencies(answer) == [[1, 0.95], [1, 0.75]]


@pytest.mark.parametrize("scaling", ["weak", "strong"])
def test_an_unknown_batch_is_no_line_and_is_said(guide_of, scaling):
    records = []
    for n in (1, 2):
        case = Case("resnet50", "pytorch", 0, devices=n)
        source = Source("tool", "f", 1, "0" * 64, device="A100")
        record = replace(run(100.0 * n, devices=n), case=case, source=source, summary=None, origin="tool")
        records.append(replace(record, printed=Printed(mean_speed=100.0 * n)))
    guide = guide_of(*records)
    answer = guide.answer(View.of(kind="scaling", scaling=scaling))
    assert not answer.lines
    assert codes(answer) == {"unknown_batch"}
    assert all(p.value is None for p in guide.answer(View.of(x="replicas", y="speedup", scaling=scaling)).points)


def test_an_efficiency_above_one_carries_a_note_in_both_views(guide_of):
    guide = guide_of(run(100.0), run(230.0, devices=2))
    assert "above_ideal" in codes(guide.answer(VIEW))
    assert "above_ideal" in codes(guide.answer(View.of(x="replicas", y="efficiency")))


def test_the_same_number_of_devices_in_other_nodes_is_said(guide_of):
    answer = guide_of(run(100.0), run(180.0, devices=2), run(170.0, nodes=2)).answer(VIEW)
    assert efficiencies(answer) == [[1, 0.9]]
    assert any("2 numbers of nodes" in warning.text for warning in answer.warnings)


def test_groups_of_single_runs_make_lines_too(guide_of):
    days = [run(100.0 * n * day, devices=n, day=day) for n in (1, 2) for day in (1, 2)]
    answer = guide_of(*days).answer(View.of(kind="scaling", group="date"))
    assert [line.base for line in answer.lines] == [100.0, 200.0]
    assert efficiencies(answer) == [[1, 1], [1, 1]]

"""What must hold of every chart, over stores and views at random."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Any

import pytest

from steptime.core.schema import Record
from steptime.guide.engine import Guide
from steptime.guide.kinds.scaling import Scaling
from steptime.guide.query.configurations import FOLLOWS, MIXING, Shown
from steptime.guide.query.results import Result
from steptime.guide.view.dimensions import STORED_MEASURES
from steptime.guide.view.view import View
from steptime.store.columns import row_of
from steptime.store.files import Store
from tests.guide import random_stores
from tests.guide.conftest import run

STORES, VIEWS, FAST = 60, 40, 3


def guide_over(store: Store, records: list[Record]) -> Guide:
    store.put_all(records)
    guide = Guide(store)
    guide.refresh()
    return guide


@pytest.fixture(params=[pytest.param(seed, marks=[pytest.mark.slow] * (seed >= FAST)) for seed in range(STORES)])
def seeded(request, store) -> tuple[Guide, list[Record], random.Random]:
    chance = random.Random(request.param)
    records = random_stores.records(chance)
    return guide_over(store, records), records, chance


def test_every_interval_holds_its_value_and_every_missing_filter_is_said(seeded):
    guide, records, chance = seeded
    for _ in range(VIEWS):
        view = random_stores.view(chance)
        answer = guide.answer(view)
        if isinstance(answer, Scaling):
            for point in (p for line in answer.lines for p in line.points):
                assert holds(point.throughput, point.low, point.high), view.query()
                assert holds(point.speedup, point.speedup_low, point.speedup_high), view.query()
        else:
            assert all(holds(p.value, p.low, p.high) for p in answer.points), view.query()
            check_figures(answer, records, view)


def holds(value: float | None, low: float | None, high: float | None) -> bool:
    if low is None or high is None:
        return low is None and high is None
    return value is not None and low <= value <= high


def check_figures(answer: Result, records: list[Record], view: View) -> None:
    """By hand, from the rows: the best run of each point, its own interval, and in what the best runs differ."""
    if view.agg not in ("best", "max", "min") or view.y not in ("throughput", "p95_ms"):
        return
    assert view.y in STORED_MEASURES
    rows = [row for row in map(row_of, records) if chosen(row, view)]
    lowest = view.agg == "min" or (view.agg == "best" and view.y == "p95_ms")
    best: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(text(row, d, view) for d in names(view))
        now = best.setdefault(key, [])
        if now and row[view.y] == now[0][view.y]:
            now.append(row)
        elif not now or (row[view.y] < now[0][view.y]) == lowest:
            best[key] = [row]
    points = {}
    for point in answer.points:
        own = dict(answer.selects.get(point.series, ()))
        key = (point.x, *(own[d][0] for d in view.group), *([point.facet] if view.facet else []))
        points[key] = point
        if point.value is not None:
            assert point.value == best[key][0][view.y], view.query()
            ends = {(r["ci_low"], r["ci_high"]) for r in best[key]}
            assert point.low is None or (point.low, point.high) in ends, view.query()
    shown = {key: rows for key, rows in best.items() if points.get(key) and points[key].value is not None}
    differ = any(differs(a, b, view) for a, b in combinations(shown.items(), 2))
    warned = any(w.code == "different" for w in answer.warnings)
    assert warned == differ, view.query()


def names(view: View) -> tuple[str, ...]:
    return (view.x, *view.group, *([view.facet] if view.facet else []))


def chosen(row: dict[str, Any], view: View) -> bool:
    from steptime.guide.query.filter_sql import matches
    from steptime.guide.view.dimensions import dimension

    kept = row["status"] == "ok" and row[view.y] is not None and (view.contended or row["verdict"] != "contended")
    return kept and all(matches(dimension(name), text(row, name, view), values) for name, values in view.filters)


def text(row: dict[str, Any], name: str, view: View) -> str:
    if name == "date":
        return (row["started"] or "")[:10]
    if name == "data_type":
        return f"{row['data']} ({row['data_store']})" if row["data_store"] else row["data"] or ""
    if name.startswith("label."):
        return row["labels"].get(name.removeprefix("label."), "")
    value = row[view.resolved(name)]
    return "" if value is None else str(value)


def differs(one: tuple[tuple[str, ...], list[Any]], other: tuple[tuple[str, ...], list[Any]], view: View) -> bool:
    (key, rows), (other_key, others) = one, other
    shown = Shown.of(view)
    for name in (d for d in MIXING if d not in shown.named):
        leads = [i for i in shown.leading(name, view) if key[i] != other_key[i]]
        values, more = ({text(r, name, view) for r in each} for each in (rows, others))
        if leads or (len(values) > 1 and len(more) > 1):
            continue
        known = {v for each in (values, more) if len(each) == 1 for v in each if v}
        if len(known) > 1 or (known and (len(values) > 1 or len(more) > 1)):
            return True
    return False


def test_what_follows_from_a_dimension_is_a_dimension_of_points():
    assert {d for names in FOLLOWS.values() for d in names} <= set(MIXING)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("scaling", ["weak", "strong"])
def test_systems_at_random_come_out_with_their_efficiencies(store, seed, scaling):
    """Systems that differ in one thing or another, each with efficiencies of its own, in one store."""
    chance = random.Random(seed)
    systems: dict[tuple[Any, ...], dict[int, float]] = {}
    records = []
    for _ in range(chance.randint(2, 8)):
        what = {
            "precision": chance.choice(("fp32", "fp16")),
            "model": chance.choice(("resnet50", "vgg16")),
            "labels": chance.choice(({"gpu": "k80"}, {"gpu": "p100"}, {"gpu": "k80", "staging": "tmp"}, {})),
            "threads": chance.choice((1, 4)),
        }
        key = (what["precision"], what["model"], tuple(what["labels"].items()), what["threads"])
        if key in systems:
            continue
        base = chance.lognormvariate(5, 1)
        systems[key] = {n: 1.0 if n == 1 else chance.uniform(0.3, 1.2) for n in (1, 2, 4, 8)}
        for n, efficiency in systems[key].items():
            batch = 64 if scaling == "weak" else 64 // n
            labels = {**what["labels"], "price_per_hour": str(n)}
            records.append(run(base * n * efficiency, devices=n, batch=batch, **{**what, "labels": labels}))
    chance.shuffle(records)
    view = View.of(kind="scaling", scaling=scaling, group=chance.choice(("label.gpu", "model")))
    answer = guide_over(store, records).answer(view)
    assert len(answer.lines) == len(systems)
    found = sorted(tuple(round(p.efficiency, 9) for p in line.points) for line in answer.lines)
    assert found == sorted(tuple(round(e, 9) for e in each.values()) for each in systems.values())
    above = sum(e > 1.0001 for each in systems.values() for e in each.values())
    assert any(w.code == "above_ideal" for w in answer.warnings) == bool(above)
    assert math.prod(line.base or 0 for line in answer.lines) > 0

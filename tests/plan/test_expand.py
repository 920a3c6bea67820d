"""From a plan to cases."""

from __future__ import annotations

import tracemalloc
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.errors import UsageError
from steptime.core.schema import case_key
from steptime.environments import install
from steptime.plan.expand import Expansion, expanded
from steptime.plan.file import plan_of
from steptime.plan.plan import Changes, Override, Plan, changed, formula
from tests.effort import Effort

BASE = {"model": ["mlp"], "backend": ["fake"]}
AXES = {
    "batch": st.integers(1, 500),
    "threads": st.integers(1, 64),
    "devices": st.integers(1, 8),
    "precision": st.sampled_from(["fp64", "fp32", "bf16"]),
    "seed": st.integers(0, 9),
    "model_options.layers": st.integers(1, 5),
    "backend_options.step_ms": st.sampled_from([1.0, 2.0, 3.0]),
}
axes = st.fixed_dictionaries(
    {}, optional={key: st.lists(values, min_size=1, max_size=3, unique=True) for key, values in AXES.items()}
)


@given(axes, st.integers(1, 3), st.sampled_from(["interleaved", "grouped"]))
def test_a_product_has_every_combination_once(axes, repeats, order):
    found = expanded(Expansion(Plan("p", constants=BASE, axes=axes, repeats=repeats, order=order)))
    assert len(found) == repeats * prod(map(len, axes.values()))
    assert len(set(map(case_key, found))) == len(found)
    rounds = [case.repeat for case in found]
    if order == "interleaved":
        assert rounds == sorted(rounds)
    else:
        assert rounds == list(range(repeats)) * (len(found) // repeats)


@given(axes, axes, st.integers(1, 3))
def test_whatever_is_changed_no_case_comes_twice(axes, given_values, repeats):
    rows = [{"phase": ["training", "inference"], "optimizer": ["sgd", "adam"]}, {"phase": ["inference"]}]
    plan = Plan("p", constants=BASE, axes=axes, rows=rows, repeats=repeats, derived={"nodes": formula("1 + 0 * devices")})
    expansion = Expansion(changed(plan, Changes(given_values)))
    found = expanded(expansion)
    keys = list(map(case_key, found))
    assert len(set(keys)) == len(keys)
    assert len(found) + expansion.repeated + expansion.excluded == expansion.combinations
    for key, values in given_values.items():
        group, _, name = key.rpartition(".")
        assert {getattr(c, group)[name] if group else getattr(c, name) for c in found} == set(values)


@given(axes, st.lists(st.tuples(st.integers(1, 8), st.integers(1, 9)), max_size=5))
def test_overrides_apply_in_order_and_see_what_earlier_ones_set(axes, overrides):
    steps = [Override(formula(f"devices >= {least} or nodes > 5"), {"nodes": nodes}) for least, nodes in overrides]
    found = list(Expansion(Plan("p", constants=BASE, axes=axes, overrides=steps)))
    for case in found:
        nodes = 1
        for least, value in overrides:
            nodes = value if case.devices >= least or nodes > 5 else nodes
        assert case.nodes == nodes


@given(axes, st.integers(0, 500), st.integers(1, 8))
def test_conditions_keep_what_they_say_and_nothing_else(axes, batch, devices):
    plan = Plan("p", constants=BASE, axes=axes)
    every = list(Expansion(plan))
    kept = list(Expansion(changed(plan, Changes(include=[f"batch > {batch}"], exclude=[f"devices == {devices}"]))))
    assert kept == [case for case in every if case.batch > batch and case.devices != devices]


def test_rows_are_grids_of_their_own_multiplied_by_the_axes():
    rows = [{"model": ["mlp"], "batch": [1, 2]}, {"model": ["lenet"]}]
    found = expanded(Expansion(Plan("p", constants={"backend": ["fake"]}, rows=rows, axes={"seed": [1, 2]})))
    assert [(c.model, c.batch, c.seed) for c in found] == [
        ("mlp", 1, 1), ("mlp", 1, 2), ("mlp", 2, 1), ("mlp", 2, 2), ("lenet", 64, 1), ("lenet", 64, 2),
    ]  # fmt: skip


def test_a_row_that_gives_a_batch_and_one_that_does_not_keep_their_own():
    rows = [{"batch": [7], "threads": [4]}, {"threads": [1, 4]}]
    override = Override(formula("model == 'mlp'"), {"threads": 4})
    found = expanded(
        Expansion(Plan("p", constants={**BASE, "phase": ["inference"]}, rows=rows, axes={"optimizer": ["none", "adam"]}))
    )
    assert [(c.batch, c.threads, c.optimizer) for c in found] == [(7, 4, "none"), (100, 1, "none"), (100, 4, "none")]
    found = expanded(Expansion(Plan("p", constants=BASE, rows=rows, overrides=[override])))
    assert [(c.batch, c.threads) for c in found] == [(7, 4), (100, 4)]


def test_the_ranks_of_a_node_share_its_cores_and_have_the_same_share_in_all_cases():
    for devices, threads in (([1], [4]), ([1, 2, 3], [1, 1, 1]), ([1, 2], [2, 2]), ([1, 8], [1, 1])):
        plan = Plan("p", constants={**BASE, "nodes": [2]}, axes={"devices": devices})
        assert [c.threads for c in expanded(Expansion(plan, cores=4))] == threads
    assert {c.threads for c in expanded(Expansion(Plan("p", constants={**BASE, "threads": [4], "devices": [2]}), cores=4))} == {4}


def test_models_bring_their_own_batch_and_rate():
    found = expanded(Expansion(Plan("p", constants={"backend": ["fake"]}, axes={"model": ["lenet", "alexnet_conv"]})))
    assert [(c.model, c.batch, c.learning_rate) for c in found] == [("lenet", 64, 1e-3), ("alexnet_conv", 32, 1e-8)]


def test_a_whole_number_for_an_option_of_fractions_is_the_same_case_in_a_file_and_on_the_command_line():
    text = "[constants]\nmodel = 'alexnet'\nbackend = 'fake'\nbackend_options.step_ms = 2\nmodel_options.dropout = 0"
    (written,) = expanded(Expansion(plan_of(text, "p.toml")))
    values = {"backend_options.step_ms": ["2"], "model_options.dropout": ["0"]}
    (typed,) = expanded(Expansion(changed(plan_of(text, "p.toml"), Changes(values, frozenset(values)))))
    assert case_key(written) == case_key(typed) and written.backend_options == {"step_ms": 2.0}


def test_options_from_the_command_line_have_the_kind_of_their_default():
    values = {"model_options.layers": ["2", "3"], "model_options.widths": [""], "backend_options.sleep": ["true"]}
    plan = changed(Plan("p", constants=BASE), Changes(values, frozenset(values), include=["model_options.layers > 2"]))
    (case,) = expanded(Expansion(plan))
    assert case.model_options == {"layers": 3, "widths": ""} and case.backend_options == {"sleep": True}


def test_installed_stands_for_every_framework_that_is(monkeypatch):
    plan = Plan("p", constants={"model": ["mlp"], "backend": ["installed"]})
    with pytest.raises(UsageError, match="steptime setup"):
        Expansion(plan)
    monkeypatch.setattr(install.Environment, "ready", True)
    assert "pytorch" in {case.backend for case in expanded(Expansion(plan))}


def test_far_too_many_cases_are_refused_before_any_is_made():
    with pytest.raises(UsageError, match="at most"):
        Expansion(Plan("p", constants=BASE, axes={"seed": range(10_000), "batch": range(1, 10_000)}))


@pytest.mark.real
def test_a_hundred_thousand_cases_take_a_second_or_so_and_little_memory():
    many = {"seed": list(range(100)), "batch": list(range(1, 101)), "threads": list(range(1, 11))}
    plan = Plan(
        "p", constants=BASE, axes=many, derived={"nodes": formula("max(1, threads // 4)")}, exclude=[formula("nodes > 9")]
    )
    with Effort() as expanding:
        cases = expanded(Expansion(plan))
    assert len(cases) == 100_000
    with Effort() as naming:
        assert len({case_key(case) for case in cases}) == 100_000
    assert (expanding.units < 90, naming.units < 90) == (True, True), (expanding.units, naming.units)
    tracemalloc.start()
    few = [case for case, _ in zip(Expansion(plan), range(10_000), strict=False)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(few) == 10_000 and peak < 30e6, "500 MB for 100,000 leaves room, but not for ten times as much"

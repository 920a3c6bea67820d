"""The plans that come with steptime."""

from __future__ import annotations

import tomllib

import pytest

from steptime.core.errors import UsageError
from steptime.core.models import zoo
from steptime.environments import install
from steptime.plan.expand import Expansion, expanded
from steptime.plan.file import preset, preset_description, preset_names, preset_text

NAMES = ("cnn-table", "cpu-vs-gpu", "frameworks", "hidden-layers", "picotte-mnist", "precisions", "psc-deep-mnist", "quick")


def cases_of(name: str, monkeypatch):
    axes = tomllib.loads(preset_text(name)).get("axes", {})
    missing = {model for model in axes.get("model", []) if model not in zoo.models()}
    if missing:
        pytest.skip(f"not in the zoo yet: {', '.join(sorted(missing))}")
    monkeypatch.setattr(install.Environment, "ready", True)
    return expanded(Expansion(preset(name)))


def test_all_of_them_are_there_and_described_in_one_line():
    assert set(preset_names()) == {*NAMES, "default"}
    for name in preset_names():
        assert preset_description(name) and "\n" not in preset_description(name)


def test_no_plan_has_the_name_of_a_model():
    assert not set(preset_names()) & set(zoo.models())


@pytest.mark.parametrize("name", NAMES)
def test_each_expands(name, monkeypatch):
    assert cases_of(name, monkeypatch)


def test_deep_mnist_has_devices_types_stores_and_batches(monkeypatch):
    cases = cases_of("psc-deep-mnist", monkeypatch)
    assert {c.devices for c in cases if c.device == "cuda"} == {1, 2, 4}
    assert {c.devices for c in cases if c.device == "cpu"} == {1}
    assert {c.data_store for c in cases} == {"dram", "scratch", "local"}
    assert all((c.data == "synthetic") == (c.data_store == "dram") for c in cases)


def test_cpu_vs_gpu_is_forward_and_forward_backward_of_100_steps_of_128(monkeypatch):
    cases = cases_of("cpu-vs-gpu", monkeypatch)
    assert [(c.device, c.phase) for c in cases] == [
        ("cpu", "inference"), ("cpu", "training"), ("cuda", "inference"), ("cuda", "training"),
    ]  # fmt: skip
    assert {(c.batch, c.optimizer, c.budget.max_steps) for c in cases} == {(128, "none", 100)}


def test_the_table_of_networks_is_five_by_three(monkeypatch):
    assert len(cases_of("cnn-table", monkeypatch)) == 15


def test_an_unknown_plan_lists_the_known():
    with pytest.raises(UsageError, match="did you mean quick"):
        preset_text("quik")

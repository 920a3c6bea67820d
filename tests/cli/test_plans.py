"""`steptime plans`, and plans given to `steptime run`."""

from __future__ import annotations

import sys

import pytest

from steptime.cli.main import main

pytestmark = pytest.mark.usefixtures("known_machine")
PLAN = """description = "a trial"
repeats = 2
exclude = "batch * devices > 64"
[constants]
model = "mlp"
backend = "fake"
[axes]
devices = [1, 2]
batch = [32, 64]
device = ["cpu", "cuda"]
[budget]
max_steps = 30
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "trial.toml"
    path.write_text(PLAN)
    return path


def test_plans_are_listed_with_a_line_each(inside):
    done = inside("plans")
    assert done.code == 0 and "psc-deep-mnist" in done.out
    listed = inside("plans", "--json").json
    assert {"name", "description"} == set(listed[0]) and len(listed) >= 9


def test_a_plan_can_be_printed_copied_and_run(inside, tmp_path):
    shown = inside("plans", "show", "quick")
    assert shown.code == 0 and "[axes]" in shown.out
    (tmp_path / "mine.toml").write_text(shown.out)
    preview = inside("run", "mine.toml", "--dry-run", "--backend", "fake")
    assert preview.code == 0 and "6 cases" in preview.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plans", "show", "quik"), "did you mean quick?"),
        (("plans", "show"), "which plan? one of:"),
        (("plans", "shew", "quick"), "known: show"),
        (("run", "resnet5"), "unknown model or plan 'resnet5'"),
        (("run", "quik"), "did you mean quick?"),
        (("run", "mlp,quick"), "unknown model or plan 'quick'"),
        (("run", "missing.toml"), "cannot read the plan missing.toml: No such file"),
        (("run", "mlp", "--model", "lenet"), "models are given twice"),
        (("run", "mlp", "--include", "batch = 3"), '--include: "batch = 3", column 7'),
        (("run", "mlp", "--batch", "8,8"), "use --repeats N"),
        (("run", "mlp", "--batch", ","), "--batch is empty"),
        (("run", "mlp", "--batch", "x"), "--batch takes whole numbers"),
        (("run", "mlp", "--learning-rate", "x"), "--learning-rate takes numbers"),
        (("run", "mlp", "--batch", "0"), "batch must be from 1 to"),
        (("run", "mlp", "--repeats", "0"), "repeats must be from 1 to"),
        (("run", "mlp", "--target", "5"), "between 0 and 1"),
        (("run", "mlp", "--phase", "trainin"), "unknown phase 'trainin'"),
        (("run", "mlp", "--exclude", "true", "--dry-run"), "exclude them all"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["steptime", *arguments])
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the handler is for a process of its own
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and not out
    assert words in err and err.count("\n") == 1 and err.startswith("steptime: ")


def test_the_command_line_changes_a_plan(inside, plan):
    lines = inside("run", plan, "--dry-run", "--json").json
    assert len(lines) == 12 and [line["repeat"] for line in lines] == [0] * 6 + [1] * 6
    changed = inside(
        "run", plan, "--dry-run", "--json", "--batch", "8", "--repeats", "1", "--device", "cpu", "--max-steps", "9"
    ).json
    assert [(line["batch"], line["devices"], line["budget"]["max_steps"]) for line in changed] == [(8, 1, 9), (8, 2, 9)]
    grouped = inside("run", plan, "--dry-run", "--json", "--order", "grouped").json
    assert [line["repeat"] for line in grouped] == [0, 1] * 6


def test_a_preview_of_many_cases_is_a_summary_unless_all_are_wanted(inside, plan):
    few = inside("run", plan, "--dry-run", "--repeats", "10")
    assert few.code == 0 and "more; --all lists them" in few.out and "60 cases (20 excluded)" in few.out
    assert "device " in few.out and "cpu ×30, cuda ×30" in few.out
    every = inside("run", plan, "--dry-run", "--repeats", "10", "--all")
    assert sum(line.startswith("mlp training fake") for line in every.out.splitlines()) == 60


@pytest.mark.slow
def test_what_this_machine_lacks_is_a_record_and_the_plan_goes_on(inside, plan):
    done = inside("run", plan, "--repeats", "1", "--batch", "32", "--json")
    assert done.code == 1
    found = {(row["device_type"], row["devices_per_node"]): (row["status"], row["message"]) for row in done.json}
    assert found[("cpu", 1)][0] == "ok"
    assert found[("cpu", 2)][0] == "ok"
    assert found[("gpu", 2)] == ("unsupported", "fake has no device cuda; it has cpu")
    assert found[("gpu", 1)] == ("unsupported", "fake has no device cuda; it has cpu")
    assert len(found) == 4
    preview = inside("run", plan, "--repeats", "1", "--batch", "32", "--dry-run")
    assert "2 estimated from the same case measured before" in preview.out and "2 unsupported before" in preview.out


def test_data_that_cannot_be_fed_are_unsupported_not_silently_synthetic(inside):
    command = ("run", "mlp", "-B", "fake", "--phase", "training", "--json")
    (row,) = inside(*command, "--data", "mnist").json
    assert row["status"] == "unsupported" and "run: steptime data get mnist" in row["message"]
    (row,) = inside(*command, "--data-store", "scratch").json
    assert row["status"] == "unsupported" and "synthetic data are made in memory (dram)" in row["message"]

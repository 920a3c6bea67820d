"""Plan files: what they may say, and where their mistakes are."""

from __future__ import annotations

import pytest

from steptime.core.errors import UsageError
from steptime.plan.expand import Expansion, expanded
from steptime.plan.file import plan_of, read_plan
from steptime.plan.plan import Changes, changed

HEAD = 'description = "x"\n[constants]\nmodel = "mlp"\nbackend = "fake"\n'


def cases(text: str, changes: Changes | None = None):
    return expanded(Expansion(changed(plan_of(text, "p.toml"), changes or Changes())))


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("axis = 1", "p.toml:1: axis: ", "did you mean axes?"),
        (HEAD + "bacth = 3", "p.toml:5: constants.bacth: ", "did you mean batch?"),
        (HEAD + "batch = 0", "p.toml:5: constants.batch: ", "from 1 to 2147483647, got 0"),
        (HEAD + "batch = '512 / devices'", "p.toml:5: constants.batch: ", "takes a whole number"),
        (HEAD + "batch = [1, 2]", "p.toml:5: constants.batch: ", "lists are for [axes]"),
        (HEAD + "batch = true", "p.toml:5: constants.batch: ", "a whole number, not true"),
        (HEAD + "[axes]\nbatch = [\n1,\n1]", "p.toml:6: axes.batch: ", "repeats = 2"),
        (HEAD + "[axes]\nbatch = []", "p.toml:6: axes.batch: ", "empty list"),
        (HEAD + "[axes]\nmodel = ['mlp']", "p.toml:6: axes.model: ", "in [constants] too"),
        (HEAD + "[axes]\nphase = ['trainin']", "p.toml:6: axes.phase: ", "did you mean training?"),
        (HEAD + "[axes]\nlabels.x = ['a']", "p.toml:6: axes.labels.x: ", "labels are notes"),
        (HEAD + "[axes]\nbatch = [1]\n[[cases]]\nseed = 1\n[[cases]]\nbatch = 2", "p.toml:10: cases[1].batch: ", "in [axes] too"),
        (HEAD + "[budget]\nmax_second = 3", "p.toml:6: budget.max_second: ", "did you mean max_seconds?"),
        (HEAD + "[budget]\ntarget = 2", "p.toml:6: budget.target: ", "between 0 and 1"),
        (HEAD + "[derived]\nbatch = '8 +'", "p.toml:6: derived.batch: ", "column 4: a value is missing"),
        (HEAD + "[derived]\nbatch = '8 * device_count'", "p.toml:6: derived.batch: ", "column 5: unknown name 'device_count'"),
        (HEAD + "[derived]\nbatch = '8 / 3'", "p.toml:6: derived.batch: ", "takes a whole number, not '2.66"),
        (HEAD + "[derived]\nmodel = 'backend'", "p.toml:6: derived.model: ", "cannot be derived"),
        (HEAD + "[[override]]\nwhen = 'true'", "p.toml:5: override[0]: ", "`set` is missing"),
        (HEAD + "[[override]]\nset = { }\nif = 'x'", "p.toml:7: override[0].if: ", "known: set, when"),
        (HEAD + "[[override]]\nset = { batch = 3,\n}", "p.toml:6", "not TOML"),
        (HEAD + "[[override]]\nset = { precison = 'bf16' }", "p.toml:6: override[0].set.precison: ", "did you mean precision?"),
        (HEAD + "[[override]]\nwhen = 'batch'\nset = {seed = 2}", "p.toml:6: override[0].when: ", "not a condition"),
        (HEAD + "model_options.layer = 4", "p.toml:5: constants.model_options.layer: ", "did you mean layers?"),
        (HEAD + "model_options.layers = -4", "p.toml:5: constants.model_options.layers: ", "at least 0"),
        (
            HEAD + "model_options.width = 8\nmodel_options.layers = 'width 3'",
            "p.toml:6: constants.model_options.layers: ",
            "takes int (default 4), not 'width 3'",
        ),
        (HEAD + "backend_options.step_ms = 'a'", "p.toml:5: constants.backend_options.step_ms: ", "takes float"),
        ("exclude = [\n'true',\n3]\n" + HEAD, "p.toml:3: exclude[1]: ", "expression in quotes"),
        ("repeats = 0\n" + HEAD, "p.toml:1: repeats: ", "from 1 to 1000000, got 0"),
        ("order = 'random'\n" + HEAD, "p.toml:1: order: ", "known: grouped, interleaved"),
        ("cases = 3\n" + HEAD, "p.toml:1: cases: ", "[[cases]]"),
        ("a = [1", "p.toml", "not TOML"),
        ("[axes]\nbatch = [3]", "p names no model", "--model"),
    ],
)
def test_errors_point_at_file_line_and_key(text, place, words):
    with pytest.raises(UsageError) as problem:
        cases(text)
    message = str(problem.value)
    assert message.startswith(place) and words in message and "\n" not in message


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(UsageError, match="cannot read the plan"):
        read_plan(tmp_path / "no.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_plan(tmp_path / "binary.toml")


def test_a_whole_plan_becomes_cases():
    found = cases(
        HEAD
        + """
        model_options.width = 64
        [axes]
        devices = [1, 2, 3, 4]
        phase = ["training", "inference"]
        [derived]
        batch = "512 / devices"
        labels.group = "model + '-' + precision"
        [[override]]
        when = "devices > 1 and phase == 'training'"
        set = { precision = "bf16", budget.max_seconds = 5, model_options.layers = 2 }
        [[override]]
        when = "precision == 'bf16'"
        set = { optimizer = "adam", labels.note = "second" }
        [labels]
        site = "here"
        """,
        Changes(exclude=["512 % devices != 0"]),
    )
    assert [(c.devices, c.phase, c.batch, c.precision, c.optimizer) for c in found] == [
        (1, "training", 512, "fp32", "sgd"),
        (1, "inference", 512, "fp32", "none"),
        (2, "training", 256, "bf16", "adam"),
        (2, "inference", 256, "fp32", "none"),
        (4, "training", 128, "bf16", "adam"),
        (4, "inference", 128, "fp32", "none"),
    ]
    assert found[2].budget.max_seconds == 5 and found[0].budget.max_seconds == 30
    assert found[2].model_options == {"width": 64, "layers": 2} and found[3].model_options == {"width": 64}
    assert found[2].labels == {"group": "mlp-fp32", "note": "second", "site": "here"}


def test_the_command_line_beats_constants_axes_cases_derivations_and_overrides():
    text = HEAD + "[axes]\nphase = ['training', 'inference']\n[derived]\nbatch = '7'\n[[override]]\nset = { threads = 3 }"
    text += "\n[[cases]]\nprecision = 'bf16'\n[[cases]]\nprecision = 'fp16'"
    assert {(c.batch, c.threads, c.precision) for c in cases(text)} == {(7, 3, "bf16"), (7, 3, "fp16")}
    values = {"batch": [1, 2], "threads": [4], "precision": ["fp64"], "phase": ["training"], "backend": ["null"]}
    found = cases(text, Changes(values))
    assert [(c.backend, c.phase, c.batch, c.threads, c.precision) for c in found] == [
        ("null", "training", 1, 4, "fp64"),
        ("null", "training", 2, 4, "fp64"),
    ]


def test_an_empty_condition_on_the_command_line_drops_those_of_the_plan():
    text = "exclude = 'threads > 1'\n" + HEAD + "[axes]\nthreads = [1, 2, 3]"
    assert [c.threads for c in cases(text)] == [1]
    assert [c.threads for c in cases(text, Changes(exclude=["", "threads == 2"]))] == [1, 3]
    assert [c.threads for c in cases(text, Changes(include=["threads != 1"], exclude=[""]))] == [2, 3]
    with pytest.raises(UsageError, match="exclude them all"):
        cases(text, Changes(include=["threads > 1"]))


def test_conditions_see_options_labels_budget_and_computed_names():
    text = HEAD + "model_options.layers = 3\n[axes]\ndevices = [1, 2]\n[labels]\nsite = 'here'"
    for condition in (
        "effective_batch == 200",
        "replicas > 1",
        "devices == 2 and model_options.layers == 3 and model_options.width == 1024 and budget.target < 0.5",
        "devices == 2 and labels.site == 'here' and backend_options.step_ms == 10 and cores >= 1 and repeat == 0",
    ):
        assert [c.devices for c in cases(text, Changes(include=[condition]))] == [2], condition

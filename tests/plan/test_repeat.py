"""The command line of a record measures its very case again, whatever the case is."""

import dataclasses
import os
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.cli import run
from steptime.cli.main import steptime
from steptime.cli.run import plan_to_run
from steptime.cli.run_options import run_options
from steptime.core.schema import OPTIMIZERS, PHASES, PRECISIONS, Allocation, Budget, Case, Record, Status, case_key
from steptime.plan.expand import Expansion, expanded
from steptime.plan.repeat import repeat_command

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.sampled_from(["dram", "scratch", "a b", "it's", "a,b", "-x", "a\\,b", "$HOME", "ü"])
PATHS = st.text(st.sampled_from("ab ,'\"\\$;-"), min_size=1, max_size=8).map(lambda name: os.path.abspath(f"/data/x{name}y"))
POSITIVE = st.floats(0, exclude_min=True, allow_infinity=False)
COUNTS = st.integers(1, 4096)
MODELS = {
    "mlp": {"layers": st.integers(0, 3), "width": st.integers(1, 64)},
    "trivial": {},
    "alexnet": {"dropout": st.floats(0, 0.9), "hidden": st.integers(1, 64)},
}
FAKE = {
    "step_ms": POSITIVE,
    "warmup": st.integers(0, 9),
    "sleep": st.booleans(),
    "failure": st.one_of(TEXT, st.sampled_from(["", "a,b", "true", "1", "a=b"])),
}


@st.composite
def cases(draw):
    model = draw(st.sampled_from(sorted(MODELS)))
    phase = draw(st.sampled_from(PHASES))
    return Case(
        model=model,
        backend="fake",
        batch=draw(st.integers(1, 2**31 - 1)),
        phase=phase,
        precision=draw(st.sampled_from(PRECISIONS)),
        device=draw(st.sampled_from(["cpu", "cuda", "k80"])),
        devices=draw(COUNTS),
        nodes=draw(COUNTS),
        threads=draw(COUNTS),
        optimizer=draw(st.sampled_from(OPTIMIZERS)) if phase == "training" else "none",
        learning_rate=draw(st.one_of(st.just(0.01), POSITIVE)),
        data=draw(st.one_of(st.just("synthetic"), PATHS)),
        data_store=draw(st.one_of(NAMES, PATHS)),
        seed=draw(st.integers(0, 2**31 - 1)),
        repeat=draw(st.integers(0, 20)),
        model_options=draw(st.fixed_dictionaries({}, optional=MODELS[model])),
        backend_options=draw(st.fixed_dictionaries({}, optional=FAKE)),
        budget=draw(
            st.builds(
                Budget,
                target=st.floats(0, 1, exclude_min=True, exclude_max=True),
                min_steps=st.integers(1, 10**9),
                max_steps=st.integers(1, 10**9),
                max_seconds=POSITIVE,
                limit_seconds=POSITIVE,
            )
            | st.just(Budget())
        ),
        labels=draw(st.dictionaries(TEXT.filter(lambda key: key and "=" not in key), TEXT, max_size=2)),
    )


def record(case, site=""):
    return Record("id", Status.OK, case, "2026-01-01T00:00:00.000+00:00", allocation=Allocation(site, "7") if site else None)


def options_of(command):
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("steptime", "run")
    return run_options(run.command.make_context("run", arguments, **steptime.context_settings))  # click keeps its help options


def cases_of(command):
    return expanded(Expansion(plan_to_run(options_of(command)), cores=3))


@given(cases())
def test_the_command_line_of_a_case_gives_exactly_that_case(case):
    (again,) = cases_of(repeat_command(record(case)))
    assert again == case and case_key(again) == case_key(case)


def test_a_case_of_a_site_is_measured_there_again():
    case = Case("mlp", "fake", 8, device="k80")
    assert options_of(repeat_command(record(case, "bridges"))).site == "bridges"
    assert options_of(repeat_command(record(case))).site == "local"


def test_what_has_its_default_is_left_out_of_the_line():
    command = repeat_command(record(Case("mlp", "fake", 8, threads=2)))
    assert command == (
        "steptime run mlp --backend fake --phase training --batch 8 --precision fp32 --threads 2 --device cpu "
        "--optimizer sgd --learning-rate 0.01"
    )


@pytest.mark.parametrize("field", dataclasses.fields(Case), ids=lambda field: field.name)
def test_every_field_of_a_case_has_a_say_in_the_line(field):
    case = Case("mlp", "fake", 8, threads=2)
    others = {
        "model": "trivial", "backend": "null", "phase": "inference", "precision": "fp16", "device": "cuda", "optimizer": "adam",
        "data": "/d", "data_store": "/s", "learning_rate": 0.5, "model_options": {"layers": 3}, "backend_options": {"warmup": 1},
        "budget": Budget(target=0.5), "labels": {"a": "b"},
    }  # fmt: skip
    other = dataclasses.replace(case, **{field.name: others.get(field.name, 7)})
    assert repeat_command(record(other)) != repeat_command(record(case))

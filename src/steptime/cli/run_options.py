"""The options of `run`, and those it shares with `resume`, as typed objects. Only this file reads click's parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from steptime.cli.options import floats, integers, json_option, settings, store_option, words
from steptime.core.errors import UnknownName, UsageError
from steptime.plan.expression import Scalar
from steptime.plan.fields import FIELDS, check
from steptime.plan.plan import Changes
from steptime.sweep.run import Settings
from steptime.sweep.verdicts import RETRIES

F = TypeVar("F", bound=Callable[..., Any])

SHARED_OPTIONS = (
    click.option(
        "--python",
        default="",
        metavar="PATH",
        help="Interpreter that has the framework: a path, a command or an environment's folder.",
    ),
    click.option("--retry", default="", metavar="WHICH", help="Measure cases that have a record again: failed, contended, all."),
    click.option(
        "--contended-rounds", type=int, default=1, show_default=True, help="How often to measure contended cases again."
    ),
    click.option(
        "--heartbeat-seconds",
        type=float,
        default=30.0,
        show_default=True,
        help="Kill a worker after this many seconds without a heartbeat.",
    ),
    click.option("--no-wait", is_flag=True, help="Measure even while another steptime measures on this machine."),
    click.option(
        "--fresh", is_flag=True, help="Start a new interpreter for every case instead of forking one that has the framework."
    ),
    click.option("--detach", is_flag=True, help="On a site: return when all jobs are submitted; see `steptime status`."),
    click.option("--steps-table", is_flag=True, help="Print step lines like tf_cnn_benchmarks."),
    click.option("--full", is_flag=True, help="With --json: print the whole record."),
    json_option,
    store_option,
)
"""of `run` and `resume`"""

READERS: dict[type, Callable[[str, str], Sequence[Scalar]]] = {
    int: integers,
    float: floats,
    str: lambda name, text: words(text),
}


def measuring_options(command: F) -> F:
    for option in reversed(SHARED_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class MeasuringOptions:
    """A field for each of SHARED_OPTIONS, by click's names."""

    python: str
    retry: str
    contended_rounds: int
    heartbeat_seconds: float
    no_wait: bool
    fresh: bool
    detach: bool
    steps_table: bool
    full: bool
    as_json: bool
    store_path: str | None

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> MeasuringOptions:
        return cls(**{field.name: parameters[field.name] for field in dataclasses.fields(cls)})

    def settings(self) -> Settings:
        if self.retry not in RETRIES:
            raise UnknownName("--retry", self.retry, [name for name in RETRIES if name])
        return Settings(
            python=self.python,
            heartbeat_seconds=self.heartbeat_seconds,
            wait_for_machine=not self.no_wait,
            fresh=self.fresh,
            retry=self.retry,
            contended_rounds=self.contended_rounds,
        )


@dataclass(frozen=True)
class RunOptions:
    subject: str | None
    """models, a plan's name or its file; None: the default plan"""
    changes: Changes
    """what the command line changes in the plan"""
    site: str
    resume: bool
    new: bool
    find_max_batch: bool
    dry_run: bool
    list_all: bool
    measuring: MeasuringOptions


def run_options(context: click.Context) -> RunOptions:
    parameters = context.params
    return RunOptions(
        subject=parameters["subject"],
        changes=_changes(_on_command_line(context)),
        site=parameters["site"],
        resume=parameters["resume"],
        new=parameters["new"],
        find_max_batch=parameters["find_max_batch"],
        dry_run=parameters["dry_run"],
        list_all=parameters["list_all"],
        measuring=MeasuringOptions.of(parameters),
    )


def _on_command_line(context: click.Context) -> dict[str, Any]:
    """Without defaults: only what the user writes overrides a plan."""
    return {
        name: value for name, value in context.params.items() if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def _changes(written: Mapping[str, Any]) -> Changes:
    options = {
        f"{group}.{key}": values
        for group, flag in (("model_options", "model-option"), ("backend_options", "backend-option"))
        for key, values in settings(flag, written.get(group, ())).items()
    }
    labels = {f"labels.{key}": [value] for key, value in _labels(written.get("labels", ())).items()}
    return Changes(
        values={**_fields(written), **options, **labels},
        texts=frozenset(options),
        repeats=written.get("repeats"),
        order=written.get("order"),
        include=written.get("include", ()),
        exclude=written.get("exclude", ()),
    )


def _fields(written: Mapping[str, Any]) -> dict[str, Sequence[Scalar]]:
    values: dict[str, Sequence[Scalar]] = {}
    for key, field in FIELDS.items():
        name = key.rpartition(".")[2]
        if name in written:
            read = READERS[field.kind](name.replace("_", "-"), str(written[name]))
            values[key] = distinct(name, [check(key, value) for value in read])
    return values


def distinct(name: str, values: Sequence[Scalar]) -> Sequence[Scalar]:
    if not values:
        raise UsageError(f"--{name.replace('_', '-')} is empty")
    if len(set(values)) != len(values):
        raise UsageError(f"the same {name} is listed twice; to repeat a case use --repeats N")
    return values


def _labels(texts: Sequence[str]) -> dict[str, str]:
    """A comma is part of a label."""
    settings("label", texts)
    return {key: value for key, _, value in (text.partition("=") for text in texts)}

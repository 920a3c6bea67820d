"""The options of `steptime run` as one typed object. The only place that reads click's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from steptime.cli.measuring_options import MeasuringOptions
from steptime.cli.options import floats, integers, settings, words
from steptime.core.errors import UsageError
from steptime.plan.expression import Scalar
from steptime.plan.fields import FIELDS, check
from steptime.plan.plan import Changes

READERS: dict[type, Callable[[str, str], Sequence[Scalar]]] = {
    int: integers,
    float: floats,
    str: lambda name, text: words(text),
}


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

"""From the words of `steptime run` to a plan: a file, a preset or models, and what the command line changes in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from steptime.cli.options import floats, integers, settings, words
from steptime.core.errors import UnknownName, UsageError
from steptime.core.models import zoo
from steptime.plan.expression import Scalar
from steptime.plan.fields import FIELDS, check
from steptime.plan.file import read_plan
from steptime.plan.plan import Changes, Plan, changed
from steptime.plan.shipped import preset, preset_names

DEFAULT = "default"
READERS: dict[type, Callable[[str, str], Sequence[Scalar]]] = {
    int: integers,
    float: floats,
    str: lambda name, text: words(text),
}


def asked_plan(what: str | None, given: dict[str, Any]) -> Plan:
    plan, models = _base(what)
    if models and given["model"]:
        raise UsageError(f"models are given twice: '{what}' and --model {given['model']}")
    return changed(plan, _changes(given, models))


def _base(what: str | None) -> tuple[Plan, list[str]]:
    """The plan, and the models that its argument names instead of one."""
    if what is None:
        return preset(DEFAULT), []
    path = Path(what)
    if path.suffix == ".toml" or path.is_file():
        return read_plan(path), []
    if what in preset_names():
        return preset(what), []
    models = words(what)
    for name in models:
        if name not in zoo.models():
            problem = UnknownName("model or plan", name, [*zoo.models(), *preset_names()])
            raise UsageError(f"{problem}; or the path of a plan file, PLAN.toml")
    return preset(DEFAULT), models


def _changes(given: dict[str, Any], models: list[str]) -> Changes:
    options = {
        f"{group}.{key}": values
        for group in ("model_options", "backend_options")
        for key, values in settings(group[:-1].replace("_", "-"), given[group]).items()
    }
    labels = {f"labels.{key}": [value] for key, value in _notes(given["labels"]).items()}
    return Changes(
        values={**({"model": _once("model", [*models])} if models else {}), **_fields(given), **options, **labels},
        texts=frozenset(options),
        repeats=given["repeats"] if _is_given("repeats") else None,
        order=given["order"],
        include=given["include"],
        exclude=given["exclude"],
    )


def _fields(given: dict[str, Any]) -> dict[str, list[Scalar]]:
    found: dict[str, list[Scalar]] = {}
    for key, field in FIELDS.items():
        name = key.rpartition(".")[2]
        if _is_given(name):
            read = READERS[field.kind](name.replace("_", "-"), str(given[name]))
            found[key] = _once(name, [check(key, value) for value in read])
    return found


def _is_given(name: str) -> bool:
    """On the command line, not by default: only then it has something to say against a plan."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _once(name: str, values: list[Scalar]) -> list[Scalar]:
    if not values:
        raise UsageError(f"--{name.replace('_', '-')} is empty")
    if len(set(values)) != len(values):
        raise UsageError(f"the same {name} is asked for twice; for repeats of a case use --repeats N")
    return values


def _notes(texts: tuple[str, ...]) -> dict[str, str]:
    """Labels: a comma is part of the note."""
    settings("label", texts)
    return {key: value for key, _, value in (text.partition("=") for text in texts)}

"""The command line that measures the case of a record again."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Mapping

from steptime.core.schema import Budget, Case, Option, Phase, Record
from steptime.plan.lists import join_list

ALWAYS = ("backend", "phase", "batch", "precision", "threads", "device")
"""fields that are written even if they have their default: they say what is measured, or their default depends on the machine"""
DEFAULTS = {field.name: field.default for kind in (Case, Budget) for field in dataclasses.fields(kind)}
RARE = ("devices", "nodes", "data", "data_store", "seed")


def repeat_command(record: Record) -> str:
    """It makes a case that is equal to the record's, labels included, and runs it on the same site.

    A repeat is made together with those before it, and they are excluded: its number is part of the case.
    """
    return shlex.join(["steptime", "run", record.case.model, *_words(record.case), *_site(record)])


def _words(case: Case) -> Iterator[str]:
    for name in ALWAYS:
        yield from _flag(name, getattr(case, name))
    if case.phase == Phase.TRAINING:
        yield from _flag("optimizer", case.optimizer)
    if case.phase == Phase.TRAINING or case.learning_rate != _own_rate(case.model):
        yield from _flag("learning_rate", case.learning_rate)
    for values, names in ((case, RARE), (case.budget, [field.name for field in dataclasses.fields(Budget)])):
        for name in names:
            if getattr(values, name) != DEFAULTS[name]:
                yield from _flag(name, getattr(values, name))
    yield from _settings("-m", case.model_options)
    yield from _settings("-b", case.backend_options)
    for key, text in case.labels.items():
        yield from ("--label", f"{key}={text}")
    if case.repeat:
        yield from ("--repeats", str(case.repeat + 1), "--include", f"repeat == {case.repeat}")


def _flag(name: str, value: Option) -> tuple[str, str]:
    return f"--{name.replace('_', '-')}", join_list([str(value)])


def _settings(flag: str, options: Mapping[str, Option]) -> Iterator[str]:
    for key, value in options.items():
        yield from (flag, f"{key}={join_list([str(value).lower() if isinstance(value, bool) else str(value)])}")


def _own_rate(model: str) -> float | None:
    """None: a model that this version does not have."""
    from steptime.core.models import zoo  # here: most lines do not need the models

    return zoo.find(model).learning_rate if model in zoo.models() else None


def _site(record: Record) -> list[str]:
    return ["--on", record.allocation.site] if record.allocation else []

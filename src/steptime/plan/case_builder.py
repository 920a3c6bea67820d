"""The last step from values to a case: types and checks the options, each distinct set of them once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from steptime.core.backends.base import check_options, find
from steptime.core.errors import OptionError, SteptimeError, UsageError
from steptime.core.models import zoo
from steptime.core.schema import Budget, Case, option_value
from steptime.plan.fields import GROUPS, check, group_of
from steptime.plan.plan import CaseValues, Plan

known_backend = cache(find)
"""find looks into the folder of backends each time"""
SCALARS = tuple(f.name for f in dataclasses.fields(Case) if f.name not in GROUPS)
"""the fields of a case in their order; the groups come after them"""


class CaseBuilder:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        keys = [key for key in plan.keys if group_of(key)]
        self._keys = {group: [key for key in keys if group_of(key) == group] for group in GROUPS}
        self._measured = [*SCALARS, *(key for key in keys if group_of(key) != "labels")]
        self._grouped = ["model", "backend", *keys]
        self._derived = [key for key in plan.derived if group_of(key) != "labels"]
        self._known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._checked: set[tuple[Any, ...]] = set()

    def identity(self, values: CaseValues) -> tuple[Any, ...]:
        """The values that distinguish cases: all but the labels. It begins with SCALARS."""
        return tuple(map(values.get, self._measured))

    def type_texts(self, values: CaseValues) -> None:
        """Converts options from the command line to the type of their default."""
        for key in self._plan.texts:
            group, _, name = key.partition(".")
            options = zoo.find(values["model"]).options if group == "model_options" else known_backend(values["backend"]).options
            values[key] = option_value(values[key], options.get(name))

    def build(self, values: CaseValues, identity: tuple[Any, ...]) -> Case:
        for key in self._derived:
            self._check_derived(key, values[key])
        grouped = tuple(map(values.get, self._grouped))
        groups = self._known.get(grouped) or self._known.setdefault(grouped, self._groups(values))
        return Case(*identity[: len(SCALARS)], *groups)

    def _groups(self, values: CaseValues) -> tuple[Any, ...]:
        """In the order of a case's fields. Cases with equal groups share one object."""
        model, backend = zoo.find(values["model"]), known_backend(values["backend"])
        model_options = _as_floats(self._group("model_options", values), model.options)
        backend_options = _as_floats(self._group("backend_options", values), backend.options)
        self._check_options(model.name, model_options, "model_options", zoo.build)
        self._check_options(backend, backend_options, "backend_options", check_options)
        return model_options, backend_options, Budget(**self._group("budget", values)), self._group("labels", values)

    def _group(self, group: str, values: CaseValues) -> dict[str, Any]:
        return {key.partition(".")[2]: values[key] for key in self._keys[group] if values.get(key) is not None}

    def _check_derived(self, key: str, value: object) -> None:
        if (key, value) in self._checked:
            return
        try:
            check(key, value)
        except UsageError as problem:
            formula = self._plan.derived[key]
            raise UsageError(f'{formula.place}"{formula.text}": {problem}') from None
        self._checked.add((key, value))

    def _check_options(self, owner: Any, options: dict[str, Any], group: str, checked: Callable[..., object]) -> None:
        identity = (group, owner, *options.items())
        if identity in self._checked:
            return
        self._checked.add(identity)
        try:
            checked(owner, options)
        except SteptimeError as problem:
            option = problem.option if isinstance(problem, OptionError) else ""
            raise self._plan.problem(f"{group}.{option}" if option in options else "model", problem) from None


def _as_floats(options: dict[str, Any], defaults: Mapping[str, object]) -> dict[str, Any]:
    """An option with a fraction as default takes 2 as 2.0, so that both ways of writing it make the same case."""
    fractions = {key for key, value in options.items() if type(value) is int and isinstance(defaults.get(key), float)}
    return {key: float(value) if key in fractions else value for key, value in options.items()}

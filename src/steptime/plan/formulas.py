"""The formulas of a plan, each evaluated once for each distinct set of its inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from steptime.core.backends.base import find
from steptime.core.errors import UnknownName, UsageError
from steptime.core.models import zoo
from steptime.core.schema import Budget
from steptime.plan.evaluate import Value, evaluate
from steptime.plan.expression import ExpressionError, names
from steptime.plan.fields import FIELDS, check, group_of, shown
from steptime.plan.plan import CaseValues, Formula, Plan

COMPUTED: dict[str, tuple[str, ...]] = {
    "replicas": ("devices", "nodes"),
    "effective_batch": ("batch", "devices", "nodes"),
    "cores": ("cores",),
}
"""names that are not keys, and the keys that they are computed from"""


class CachedFormula:
    """A formula as a function of a case's values."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._names = _inputs(formula)
        self._known: dict[tuple[Any, ...], Value] = {}

    def __call__(self, values: CaseValues) -> Value:
        inputs = tuple(map(values.get, self._names))
        try:
            return self._known[inputs]
        except KeyError:
            known = {name: value for name, value in zip(self._names, inputs) if value is not None}
            value = self._known[inputs] = self._evaluate({name: _value(known, name) for name in self._formula.names})
            return value

    def _evaluate(self, inputs: dict[str, Any]) -> Value:
        try:
            return evaluate(self._formula.tree, inputs.get, self._formula.text)
        except UsageError as problem:
            raise UsageError(f"{self._formula.place}{problem}{_for(inputs)}") from None


class Condition(CachedFormula):
    def _evaluate(self, inputs: dict[str, Any]) -> Value:
        value = super()._evaluate(inputs)
        if not isinstance(value, bool | None):
            text = self._formula.text
            raise UsageError(f'{self._formula.place}"{text}" is not a condition: it gives {value!r}{_for(inputs)}')
        return bool(value)


class Derived(CachedFormula):
    def __init__(self, key: str, formula: Formula) -> None:
        super().__init__(formula)
        self._key = key

    def _evaluate(self, inputs: dict[str, Any]) -> Value:
        """Whole where the key takes whole numbers. Conditions may exclude what is not whole; else CaseBuilder refuses it."""
        value = super()._evaluate(inputs)
        field = FIELDS.get(self._key)
        if field and field.kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        return check(self._key, value) if group_of(self._key) == "labels" and value is not None else value


class Formulas:
    def __init__(self, plan: Plan) -> None:
        self._derived = {key: Derived(key, formula) for key, formula in plan.derived.items()}
        self._overrides = [(Condition(o.when) if o.when else None, o.values) for o in plan.overrides]
        self._conditions = [(Condition(f), True) for f in plan.include] + [(Condition(f), False) for f in plan.exclude]
        whens = [o.when for o in plan.overrides if o.when]
        check_names(plan, [*plan.derived.values(), *whens, *plan.include, *plan.exclude])

    def derive(self, values: CaseValues) -> None:
        for key, formula in self._derived.items():
            values[key] = formula(values)

    def override(self, values: CaseValues) -> None:
        for when, settings in self._overrides:
            if when is None or when(values):
                values.update(settings)

    def kept(self, values: CaseValues) -> bool:
        return all(condition(values) is wanted for condition, wanted in self._conditions)


def _inputs(formula: Formula) -> tuple[str, ...]:
    """The keys on which a formula depends. The default and the kind of an option are its model's or its backend's."""
    keys: dict[str, None] = {}
    for name in formula.names:
        keys |= dict.fromkeys(COMPUTED.get(name, (name,)))
        if group_of(name) in ("model_options", "backend_options"):
            keys |= dict.fromkeys(("model", "backend"))
    return tuple(keys)


def _value(values: CaseValues, name: str) -> Value:
    """The value of a name in an unfinished case: an unset option has its default; None if the case has no such value."""
    if name in values:
        value: Value = values[name]
        return value
    if name in COMPUTED:
        return int(math.prod(values[key] for key in COMPUTED[name]))
    group, _, key = name.partition(".")
    if group == "model_options":
        return zoo.find(values["model"]).options.get(key)
    if group == "backend_options":
        return find(values["backend"]).options.get(key)
    return getattr(Budget, key, None) if group == "budget" else None


def check_names(plan: Plan, formulas: Iterable[Formula]) -> None:
    """A name that no case of the plan can have is a typing error."""
    formulas = list(formulas)
    if not formulas:
        return
    known = _known_names(plan)
    for formula in formulas:
        for name in names(formula.tree):
            if name.path not in known:
                problem = ExpressionError(formula.text, name.column, str(UnknownName("name", name.path, known)))
                raise UsageError(f"{formula.place}{problem}")


def _known_names(plan: Plan) -> set[str]:
    known = {*FIELDS, *COMPUTED, "repeat", *plan.keys}
    for table in plan.tables:
        for model in table.get("model", ()):
            known |= {f"model_options.{key}" for key in zoo.find(str(model)).options}
        for backend in table.get("backend", ("pytorch",)):
            known |= {f"backend_options.{key}" for key in find(str(backend)).options}
    return known


def _for(inputs: dict[str, Any]) -> str:
    values = ", ".join(f"{name} = {shown(value)}" for name, value in inputs.items() if value is not None)
    return f" (for {values})" if values else ""

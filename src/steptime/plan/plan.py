"""A whole experiment as the user writes it: what varies, what is constant, and the exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from steptime.core.errors import UsageError
from steptime.plan.expression import Node, Scalar, names
from steptime.plan.parse import parse

Values = Mapping[str, Sequence[Scalar]]
CaseValues = dict[str, Any]
"""the flat values of a case that is not finished"""
ORDERS = ("interleaved", "grouped")
MOST_REPEATS = 10**6
T = TypeVar("T")


@dataclass(frozen=True)
class Formula:
    """An expression and where it stands."""

    text: str
    tree: Node
    place: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name.path for name in names(self.tree)))


def formula(text: str, place: str = "") -> Formula:
    try:
        return Formula(text, parse(text), place)
    except UsageError as problem:
        raise UsageError(f"{place}{problem}") from None


@dataclass(frozen=True)
class Override:
    """Applies to the cases for which `when` is true; None: to all."""

    when: Formula | None
    values: Mapping[str, Scalar]


@dataclass(frozen=True)
class Plan:
    """Keys are those of fields.py. Nothing is resolved yet: models' own batches, this machine's threads, formulas."""

    name: str = ""
    description: str = ""
    repeats: int = 1
    order: str = "interleaved"
    constants: Values = field(default_factory=dict)
    axes: Values = field(default_factory=dict)
    rows: Sequence[Values] = ()
    """each a grid of its own, multiplied by the axes; none is the same as one empty row"""
    derived: Mapping[str, Formula] = field(default_factory=dict)
    overrides: Sequence[Override] = ()
    include: Sequence[Formula] = ()
    exclude: Sequence[Formula] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    """where a key is first written, as the beginning of an error message"""
    texts: frozenset[str] = frozenset()
    """options from the command line, whose types only the model or the backend knows"""

    @property
    def tables(self) -> list[Values]:
        """The tables whose values are combined."""
        return [self.constants, self.axes, *self.rows]

    @property
    def keys(self) -> list[str]:
        """Every key that the plan sets, in any way."""
        sources: list[Mapping[str, object]] = [*self.tables, self.derived, *(o.values for o in self.overrides)]
        return list(dict.fromkeys(key for source in sources for key in source))

    def problem(self, key: str, message: object) -> UsageError:
        return UsageError(f"{self.places.get(key, '')}{message}")


@dataclass(frozen=True)
class Changes:
    """What the command line changes in a plan; it overrides every key that it names."""

    values: Values = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    repeats: int | None = None
    order: str | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    """added to the plan's own; an empty one first drops those"""


def changed(plan: Plan, changes: Changes) -> Plan:
    """One key at a time: wherever the plan sets it, it now has the values of the command line."""
    replacements = changes.values
    axes = {key: replacements.get(key, values) for key, values in plan.axes.items()}
    axes |= {key: values for key, values in replacements.items() if len(values) > 1}
    rest = {key: values for key, values in replacements.items() if key not in axes}
    return replace(
        plan,
        axes=axes,
        constants={**_without(plan.constants, axes), **rest} if replacements else plan.constants,
        rows=[_without(row, replacements) for row in plan.rows],
        derived=_without(plan.derived, replacements),
        overrides=[Override(o.when, _without(o.values, replacements)) for o in plan.overrides],
        include=_added(plan.include, changes.include, "--include: "),
        exclude=_added(plan.exclude, changes.exclude, "--exclude: "),
        repeats=plan.repeats if changes.repeats is None else checked_repeats(changes.repeats),
        order=plan.order if changes.order is None else changes.order,
        places=_without(plan.places, replacements),
        texts=changes.texts,
    )


def _without(table: Mapping[str, T], keys: Mapping[str, object]) -> dict[str, T]:
    return {key: value for key, value in table.items() if key not in keys}


def _added(own: Sequence[Formula], texts: Sequence[str], place: str) -> list[Formula]:
    kept = [] if "" in texts else list(own)
    return kept + [formula(text, place) for text in texts if text]


def checked_repeats(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_REPEATS:
        raise UsageError(f"repeats must be from 1 to {MOST_REPEATS}, got {value}")
    return value

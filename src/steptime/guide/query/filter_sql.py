"""From dimensions and filters to SQL. Names pass a whitelist, values are parameters; no text from outside is in a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from steptime.core.errors import UnknownName
from steptime.guide.view import notation
from steptime.guide.view.dimensions import DIMENSIONS, LABEL_PREFIX, Dimension, dimension
from steptime.guide.view.notation import Filters
from steptime.guide.view.view import View
from steptime.store import rollup

RUN_COLUMNS = ("date", "verdict", "sweep")
"""dimensions of single runs, which the rollup does not have"""
NOTHING = {"text": "\x01", "number": "0..-1", "date": "9..0"}
"""values that no run has, for filters that contradict each other"""


@dataclass
class Select:
    """One statement while it is built: the text of its expressions, and the parameters they need."""

    view: View
    parameters: dict[str, Any] = field(default_factory=dict)

    def bind(self, value: Any) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"

    def column(self, name: str) -> str:
        """A dimension as SQL, in its own type."""
        name = self.view.resolved(dimension(name).name)
        if name.startswith(LABEL_PREFIX):
            path = self.bind('$."' + name.removeprefix(LABEL_PREFIX) + '"')
            return f"coalesce(json_extract_string(labels, {path}), '')"
        if name not in DIMENSIONS:
            raise UnknownName("dimension", name, DIMENSIONS)
        return name

    def text(self, name: str) -> str:
        """A dimension as text; an unknown value is empty."""
        column = self.column(name)
        return rollup.text(column) if dimension(name).kind == "number" else column

    def where(self, filters: Filters) -> str:
        return " AND ".join(["true", *(self._condition(dimension(name), values) for name, values in filters)])

    def _condition(self, of: Dimension, values: tuple[str, ...]) -> str:
        column = self.column(of.name)
        if of.kind == "text":
            return f"list_contains({self.bind(list(values))}, {column})"
        return f"({' OR '.join(self._within(column, of, value) for value in values)})"

    def _within(self, column: str, of: Dimension, value: str) -> str:
        """A number, a date, or a range of them; of dates a month or a year stands for all its days."""
        number = of.kind == "number"
        if value == "":
            return f"{column} IS NULL" if number else f"{column} = ''"
        low, high = notation.ends(of, value) or (value, value)
        parts = [f"{column} IS NOT NULL" if number else f"{column} <> ''"]
        parts += [f"{column} >= {self.bind(float(low) if number else low)}"] if low else []
        upper = column if number else f"{column}[:{len(high)}]"
        parts += [f"{upper} <= {self.bind(float(high) if number else high)}"] if high else []
        return f"({' AND '.join(parts)})"

    def uses_rollup(self, filters: Filters, shown: Iterable[str] = ()) -> bool:
        """Whether the rollup has all that is needed."""
        merging = self.view.contended and self.view.agg in ("mean", "median")
        return not merging and not any(name in RUN_COLUMNS for name in (*shown, *dict(filters)))

    def source(self, filters: Filters, shown: Iterable[str] = ()) -> str:
        """Rows of the rollup that match, or the same computed from the runs where the rollup is not enough.

        It has no dimensions of single runs; and where contended runs count, means and medians of a configuration need all
        of its runs together.
        """
        single = [name for name in RUN_COLUMNS if name in shown]
        merging = self.view.contended and self.view.agg in ("mean", "median")
        where = self.where(filters)
        if self.uses_rollup(filters, shown):
            return f"(SELECT * FROM rollup WHERE {where})"
        runs = f"(SELECT * {'REPLACE (false AS contended) ' if merging else ''}FROM runs WHERE {where})"
        return f"({rollup.reduced(runs, single)})"


def intersection(base: Filters, more: Filters) -> Filters:
    """Filters that let through what both do. Lists are intersected; a range beside a list chooses from it."""
    filters = dict(base)
    for name, values in more:
        filters[name] = _both(dimension(name), filters[name], values) if name in filters else values
    return tuple(sorted(filters.items()))


def _both(of: Dimension, one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    kept = [v for v in one if not notation.ends(of, v) and matches(of, v, other)]
    kept += [v for v in other if not notation.ends(of, v) and matches(of, v, one)]
    for a in filter(None, (notation.ends(of, v) for v in one)):
        for b in filter(None, (notation.ends(of, v) for v in other)):
            kept.append(_overlap(of, a, b))
    return tuple(sorted(set(filter(None, kept)))) or (NOTHING[of.kind],)


def _overlap(of: Dimension, a: tuple[str, str], b: tuple[str, str]) -> str:
    key = float if of.kind == "number" else str
    low = max(filter(None, (a[0], b[0])), key=key, default="")
    high = min(filter(None, (a[1], b[1])), key=key, default="")
    return f"{low}..{high}"


def matches(of: Dimension, value: str, wanted: Iterable[str]) -> bool:
    """Whether a filter lets a value through."""
    for want in wanted:
        ends = notation.ends(of, want)
        if of.kind == "text" or want == "" or value == "":
            if value == want:
                return True
            continue
        low, high = ends or (want, want)
        if of.kind == "number":
            if (not low or float(value) >= float(low)) and (not high or float(value) <= float(high)):
                return True
        elif (not low or value >= low) and (not high or value[: len(high)] <= high):
            return True
    return False

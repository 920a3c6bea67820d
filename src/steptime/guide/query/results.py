"""What the guide answers: frozen, made of plain values, the same as JSON (`plain`). docs/guide-query.md says what each means."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from steptime.guide.query.warning_codes import ChartWarning
from steptime.guide.view.notation import Filters
from steptime.guide.view.view import View

Row = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One value of x in one series."""

    x: str
    series: str = ""
    facet: str = ""
    value: float | None = None
    """None: no figure, and `status` says why. Never 0 for that."""
    low: float | None = None
    high: float | None = None
    """the 95% interval, where there is one"""
    runs: int = 0
    """measured runs behind the value"""
    configurations: int = 0
    """different configurations behind the value: more than 1 is worth a warning"""
    status: str = "ok"
    """ok | a failure (schema.FAILURES) | contended (all runs were, and are left out) | no figure (of this measure) |
    not averaged (runs that do different kinds of work) | no baseline | not run"""
    statuses: dict[str, int] = field(default_factory=dict)
    """how many runs ended in which way, contended ones not counted unless they are included"""
    contended: int = 0
    """runs that were left out because something else disturbed them"""
    mixes: dict[str, int] = field(default_factory=dict)
    """dimension: how many values of it are behind this point, where more than one"""
    configuration: dict[str, str] = field(default_factory=dict)
    """dimension: its value in the configuration that is shown, where not all points have the same; of a mean or median, where
    all its runs agree"""


@dataclass(frozen=True)
class Mean:
    """Baseline-relative mode: the geometric mean of a series over the values of x that it shares with the baseline."""

    series: str
    facet: str
    value: float
    n: int
    of: int
    """values of x at which the baseline has a figure"""


@dataclass(frozen=True)
class Result:
    view: View
    xs: tuple[str, ...]
    series: tuple[str, ...]
    facets: tuple[str, ...]
    points: tuple[Point, ...]
    """by facet, series, x, in those orders"""
    shared: dict[str, str] = field(default_factory=dict)
    """dimension: its value, where all points have the same"""
    means: tuple[Mean, ...] = ()
    warnings: tuple[ChartWarning, ...] = ()
    runs: int = 0
    contended: int = 0
    """runs left out because they were contended"""
    selects: dict[str, Filters] = field(default_factory=dict)
    """series: the filters that choose its runs, those of the view included; with x and facet added, the runs of a point"""


@dataclass(frozen=True)
class FacetValue:
    value: str
    runs: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """The values of a dimension among the runs that all other filters leave."""

    dimension: str
    label: str
    kind: str
    values: tuple[FacetValue, ...]
    more: int = 0
    """values beyond the first 200"""


@dataclass(frozen=True)
class RunList:
    view: View
    rows: tuple[Row, ...]
    """index columns (store.columns.NAMES), newest first"""
    total: int


def plain(value: Any) -> Any:
    """Dicts, lists and scalars; a view becomes its query string."""
    if isinstance(value, View):
        return value.query()
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value

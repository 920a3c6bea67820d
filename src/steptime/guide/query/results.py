"""What the guide answers: frozen, made of plain values, the same as JSON (`plain`). docs/guide-query.md says what each means.

The engine is `steptime.guide.engine.Guide(store)`; it may be used from many threads at once:

    guide.refresh() -> bool                       looks for new record files; whether anything changed
    guide.version -> str                          changes when the answers may
    guide.query(view) -> Result                   view.kind chart or table
    guide.scaling(view) -> Scaling
    guide.coverage(view) -> Coverage
    guide.facets(view) -> list[Facet]             filter values with counts that leave out their own dimension
    guide.runs(view, limit=, offset=) -> RunList  the runs behind a view; `runs_view(result, point)` is the view behind a point
    guide.record(id) -> Record                    one run, whole
    guide.compare(view) -> Comparison             view.runs or view.series, the first being the baseline
    guide.columns() -> dict[str, list]            all index columns, for the single-file report

Vega-Lite from these: charts.spec(result, look), panels.scaling_spec, coverage_spec, compare_spec; of a record
steps.steps_spec and histogram_spec.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

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
    no baseline | not run"""
    statuses: dict[str, int] = field(default_factory=dict)
    """how many runs ended in which way, contended ones not counted unless they are included"""
    contended: int = 0
    """runs that were left out because something else disturbed them"""
    mixes: dict[str, int] = field(default_factory=dict)
    """dimension: how many values of it are behind this point, where more than one"""


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
    means: tuple[Mean, ...] = ()
    warnings: tuple[str, ...] = ()
    runs: int = 0
    contended: int = 0
    """runs left out because they were contended"""
    selects: dict[str, Filters] = field(default_factory=dict)
    """series: the filters that choose its runs, those of the view included; with x and facet added, the runs of a point"""


@dataclass(frozen=True)
class ScalingPoint:
    devices: int
    throughput: float | None
    low: float | None
    high: float | None
    ideal: float | None
    """throughput if it scaled perfectly from one device; None without a run on one device"""
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    efficiency: float | None
    efficiency_low: float | None
    efficiency_high: float | None
    runs: int
    status: str = "ok"


@dataclass(frozen=True)
class ScalingLine:
    """One configuration, on more and more devices: weak scaling keeps the replica batch, strong the effective batch."""

    series: str
    batch: int
    points: tuple[ScalingPoint, ...]
    base: float | None
    """throughput on one device; None: there is no such run, so there is no speed-up, no efficiency and no ideal line"""


@dataclass(frozen=True)
class Scaling:
    view: View
    lines: tuple[ScalingLine, ...]
    warnings: tuple[str, ...] = ()
    contended: int = 0


@dataclass(frozen=True)
class Cell:
    x: str
    row: str
    status: str
    runs: int
    statuses: dict[str, int]


@dataclass(frozen=True)
class Coverage:
    """Which combinations exist. `of` names the dimensions of the rows (view.group, else framework)."""

    view: View
    of: tuple[str, ...]
    xs: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[Cell, ...]
    """every combination, in the order of rows, then of xs"""
    counts: dict[str, int]
    """cells by status"""


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
    """index columns (store.rows.COLUMNS), newest first"""
    total: int


@dataclass(frozen=True)
class Side:
    """One thing that is compared: a run or a named series."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    runs: int
    configurations: int
    run_ids: tuple[str, ...]
    """at most 20"""
    status: str = "ok"


@dataclass(frozen=True)
class Difference:
    """A side against the first one."""

    name: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    """faster | slower | same | undecided | no figure"""
    words: str
    basis: str
    """what the interval rests on"""


@dataclass(frozen=True)
class Differing:
    """Something in which the sides are not the same."""

    section: str
    """configuration | software | hardware | measurement"""
    name: str
    values: tuple[str, ...]
    """one for each side"""


@dataclass(frozen=True)
class Comparison:
    view: View
    sides: tuple[Side, ...]
    differences: tuple[Difference, ...]
    """one for each side after the first"""
    differing: tuple[Differing, ...]
    warnings: tuple[str, ...] = ()


def plain(value: Any) -> Any:
    """Dicts, lists and scalars; a view becomes its query string."""
    if isinstance(value, View):
        return value.query()
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value

"""Which combinations were measured, which failed, which were never run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steptime.core.schema import Status
from steptime.guide.charts.chart_template import frame
from steptime.guide.charts.spec_template import Spec, slot
from steptime.guide.charts.theme import status_colour, status_label
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import Kind
from steptime.guide.query.filter_sql import RUN_COLUMNS, Select, matches
from steptime.guide.query.points import UNKNOWN, main_status
from steptime.guide.query.results import plain
from steptime.guide.view.dimensions import NOT_RUN, dimension, in_order
from steptime.guide.view.texts import Text
from steptime.guide.view.view import View
from steptime.store.columns import STATUSES
from steptime.store.snapshot import Snapshot

ROWS = ("framework",)
MOST = 200
"""rows and columns of the matrix"""
CELLS = (*STATUSES, "contended", "no figure", NOT_RUN)
"""what a cell may be"""


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


def coverage(snapshot: Snapshot, view: View) -> Coverage:
    """Contended runs count as measured: the question here is what exists."""
    of = view.group or tuple(d for d in ROWS if d != view.x) or ("model",)
    shown = [view.x, *of]
    select = Select(view)
    names = {view.resolved(name) for name in shown} | {name for name, _ in view.filters}
    table, count = ("runs", "count(*)") if names & set(RUN_COLUMNS) else ("rollup", "sum(n)")
    texts = ", ".join(select.text(name) for name in shown)
    where = select.where(view.filters)
    counted = snapshot.ask(f"SELECT {texts}, status, {count} FROM {table} WHERE {where} GROUP BY ALL", select.parameters)
    cells: dict[tuple[tuple[str, ...], str], dict[str, int]] = defaultdict(dict)
    for x, *row, status, runs in counted:
        if not view.range or matches(dimension(view.x), x, view.range):
            cells[tuple(row), x][status] = int(runs)
    xs = in_order(dimension(view.x), {x for _, x in cells})[:MOST]
    orders = [in_order(dimension(d), {row[i] for row, _ in cells}) for i, d in enumerate(of)]
    rows = sorted({row for row, _ in cells}, key=lambda row: [o.index(v) for o, v in zip(orders, row, strict=True)])[:MOST]
    made = [_cell(x, row, cells.get((row, x), {})) for row in rows for x in xs]
    counts: dict[str, int] = defaultdict(int)
    for cell in made:
        counts[cell.status] += 1
    return Coverage(view, of, tuple(xs), tuple(_name(row) for row in rows), tuple(made), dict(counts))


def _name(row: tuple[str, ...]) -> str:
    return ", ".join(value or UNKNOWN for value in row)


def _cell(x: str, row: tuple[str, ...], endings: dict[str, int]) -> Cell:
    status = Status.OK if endings.get(Status.OK) else main_status(endings, 0) if endings else NOT_RUN
    return Cell(x, _name(row), status, sum(endings.values()), endings)


class CoverageKind(Kind[Coverage]):
    texts = {
        "title": Text("Coverage: {rows} × {x}"),
        "subtitle": Text("{ok} of {total} combinations are measured · figures: runs"),
    }
    parameters = ("x", "group", "scaling", "range")
    columns = ("row", "x", "status", "runs")

    def answer(self, guide: Guide, view: View) -> Coverage:
        return coverage(guide.snapshot, view)

    def title(self, answer: Coverage) -> str:
        rows = " / ".join(dimension(name).label for name in answer.of)
        return self.texts["title"](rows=rows, x=dimension(answer.view.x).label)

    def subtitle(self, answer: Coverage) -> str:
        return self.texts["subtitle"](ok=answer.counts.get("ok", 0), total=len(answer.cells))

    def items(self, answer: Coverage) -> Sequence[Cell]:
        return answer.cells

    def rows(self, answer: Coverage) -> list[dict[str, Any]]:
        return [plain(cell) for cell in answer.cells]

    def template(self) -> Spec:
        """A cell for every combination: measured, failed in which way, or never run."""
        x = {"field": "x", "type": "nominal", "sort": slot("xs"), "title": slot("x_title"),
             "axis": {"orient": "top", "labelAngle": -35, "ticks": False, "domain": False}}  # fmt: skip
        y = {"field": "row", "type": "nominal", "sort": slot("ys"), "title": slot("y_title"), "axis": {"ticks": False}}
        scale = {"domain": [status_label(s) for s in CELLS], "range": [status_colour(s) for s in CELLS]}
        legend = {"title": None, "orient": "bottom", "values": slot("present")}
        faint = {"condition": {"test": f"datum.status === '{NOT_RUN}'", "value": 0.18}, "value": 0.9}
        colour = {"field": "status", "type": "nominal", "scale": scale, "legend": legend}
        tooltip = [{"field": name, "type": "nominal"} for name in ("x", "row", "status", "runs")]
        cell = {"mark": {"type": "rect", "cornerRadius": 3, "stroke": slot("background"), "strokeWidth": 3},
                "encoding": {"x": x, "y": y, "color": colour, "opacity": faint, "tooltip": tooltip}}  # fmt: skip
        text = {"transform": [{"filter": "isValid(datum.runs)"}],
                "mark": {"type": "text", "color": "#ffffff", "fontSize": 11, "fontWeight": 600},
                "encoding": {"x": x, "y": y, "text": {"field": "runs", "type": "quantitative", "format": ",d"}}}  # fmt: skip
        return {**frame(), "width": {"step": 54}, "height": {"step": 34}, "data": {"values": slot("rows")}, "layer": [cell, text]}

    def values(self, answer: Coverage) -> dict[str, Any]:
        rows = [
            {"x": cell.x or UNKNOWN, "row": cell.row, "status": status_label(cell.status), "runs": cell.runs or None}
            for cell in answer.cells
        ]
        return {
            "rows": rows, "xs": [x or UNKNOWN for x in answer.xs], "ys": list(answer.rows),
            "present": list(dict.fromkeys(row["status"] for row in rows)),
            "x_title": dimension(answer.view.x).label, "y_title": ", ".join(dimension(d).label for d in answer.of),
            "heading": self.title(answer), "subtitle": [self.subtitle(answer)],
        }  # fmt: skip


KIND = CoverageKind()

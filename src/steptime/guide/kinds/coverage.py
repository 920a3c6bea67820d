"""Which combinations were measured, which failed, which were never run."""

from __future__ import annotations

from collections import defaultdict

from steptime.core.schema import OK
from steptime.guide.query.filter_sql import RUN_COLUMNS, Select, passes
from steptime.guide.query.points import UNKNOWN, most_telling
from steptime.guide.query.results import Cell, Coverage
from steptime.guide.view.dimensions import NOT_RUN, dimension, in_order
from steptime.guide.view.view import View
from steptime.store.snapshot import Snapshot

ROWS = ("framework",)
MOST = 200
"""rows and columns of the matrix"""


def coverage(snapshot: Snapshot, view: View) -> Coverage:
    """Contended runs count as measured: the question here is what exists."""
    of = view.group or tuple(d for d in ROWS if d != view.x) or ("model",)
    shown = [view.x, *of]
    select = Select(view)
    names = {view.resolved(name) for name in shown} | {name for name, _ in view.filters}
    table, count = ("runs", "count(*)") if names & set(RUN_COLUMNS) else ("rollup", "sum(n)")
    texts = ", ".join(select.text(name) for name in shown)
    where = select.where(view.filters)
    found = snapshot.ask(f"SELECT {texts}, status, {count} FROM {table} WHERE {where} GROUP BY ALL", select.parameters)
    cells: dict[tuple[tuple[str, ...], str], dict[str, int]] = defaultdict(dict)
    for x, *row, status, runs in found:
        if not view.range or passes(dimension(view.x), x, view.range):
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
    status = OK if endings.get(OK) else most_telling(endings, 0) if endings else NOT_RUN
    return Cell(x, _name(row), status, sum(endings.values()), endings)

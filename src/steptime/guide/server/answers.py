"""What the page is sent besides views: plain values, ready for JSON. Reads, never writes; no path comes from outside."""

from __future__ import annotations

from typing import Any

from steptime.core.errors import UsageError
from steptime.guide.engine import Guide
from steptime.guide.query.filter_sql import RUN_COLUMNS
from steptime.guide.query.results import Facet, plain
from steptime.guide.view.dimensions import DIMENSIONS, MEASURES, dimension
from steptime.guide.view.view import View, from_pairs

Answer = dict[str, Any]
MAX_ROWS = 500
MAX_LABELS = 20


def meta(guide: Guide) -> Answer:
    """What can be asked: dimensions with how many values each has, measures, the number of runs."""
    counted = [name for name in DIMENSIONS if name not in RUN_COLUMNS] + guide.labels()[:MAX_LABELS]
    facets = {f.dimension: f for f in guide.facets(View(contended=True), counted)}
    names = [*DIMENSIONS, *(name for name in facets if name not in DIMENSIONS)]
    return {
        "store": str(guide.store.root),
        "runs": guide.size,
        "version": guide.version,
        "dimensions": [_dimension(name, facets.get(name)) for name in names],
        "measures": [plain(m) for m in MEASURES.values()],
        "damaged": [{"file": d.path.name, "reason": d.reason} for d in guide.damaged],
    }


def _dimension(name: str, facet: Facet | None) -> Answer:
    """Values of single runs are not counted, which would mean reading them all."""
    by = dimension(name)
    return {"name": name, "label": by.label, "kind": by.kind, "values": len(facet.values) + facet.more if facet else 2}


def facets_answer(guide: Guide, view: View) -> list[Answer]:
    return [plain(facet) for facet in guide.facets(view)]


def runs_answer(guide: Guide, pairs: list[tuple[str, str]]) -> Answer:
    """The runs of a view, some at a time."""
    page = {key: value for key, value in pairs if key in ("limit", "offset")}
    view = from_pairs([(key, value) for key, value in pairs if key not in page])
    limit, offset = _number(page, "limit", 100, MAX_ROWS), _number(page, "offset", 0, 10**9)
    return plain(guide.runs(view, limit=limit, offset=offset))  # type: ignore[no-any-return]


def _number(parameters: dict[str, str], name: str, default: int, most: int) -> int:
    text = parameters.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise UsageError(f"{name} is a whole number of at most {most}; got '{text[:40]}'")
    return int(text)

"""Every view as a file at its own address: table, data, picture, specification."""

from __future__ import annotations

from steptime.core.errors import UsageError
from steptime.guide.engine import Guide
from steptime.guide.query.results import Result
from steptime.guide.sharing.notebook import answer_of, rendered
from steptime.guide.view.view import View

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "vl.json": "application/json",
}
MOST_POINTS = 5000
"""a picture of more takes minutes to draw and shows nothing"""


def file_of(guide: Guide, view: View, kind: str) -> bytes:
    answer = answer_of(guide, view)
    if kind in ("svg", "png") and isinstance(answer, Result) and len(answer.points) > MOST_POINTS:
        raise UsageError(f"a picture of {len(answer.points)} points shows nothing; filter, or take .csv")
    return rendered(answer, kind)

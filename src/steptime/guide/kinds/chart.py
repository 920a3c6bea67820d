"""The explorer: a measure over a dimension, one series for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steptime.guide.charts import chart_template, chart_values
from steptime.guide.charts.spec_template import Spec
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import Kind
from steptime.guide.query.points import query
from steptime.guide.query.results import Point, Result, plain
from steptime.guide.view.view import View

MOST_POINTS = 5000
"""a picture of more takes minutes to draw and shows nothing"""


class ChartKind(Kind[Result]):
    parameters: tuple[str, ...] = (
        "x", "y", "group", "facet", "agg", "scaling", "log", "baseline", "range", "contended", "series",
    )  # fmt: skip
    columns = ("facet", "series", "x", "value", "low", "high", "runs", "configurations", "status", "contended")
    texts = chart_values.TEXTS
    page_draws = True

    def answer(self, guide: Guide, view: View) -> Result:
        return query(guide.snapshot, view)

    def title(self, answer: Result) -> str:
        return chart_values.heading(answer.view)

    def subtitle(self, answer: Result) -> str:
        return chart_values.subtitle(answer)

    def items(self, answer: Result) -> Sequence[Point]:
        return answer.points

    def rows(self, answer: Result) -> list[dict[str, Any]]:
        return [plain(point) for point in answer.points]

    def template(self) -> Spec:
        return chart_template.template()

    def values(self, answer: Result) -> dict[str, Any]:
        return chart_values.values(answer)

    def size(self, answer: Result) -> dict[str, Any]:
        return chart_values.default_size(answer)

    def too_large(self, answer: Result) -> str:
        points = len(answer.points)
        return f"a picture of {points} points shows nothing; filter, or take .csv" if points > MOST_POINTS else ""


KIND = ChartKind()

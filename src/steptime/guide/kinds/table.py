"""The explorer's points as a table."""

from __future__ import annotations

from steptime.guide.kinds.chart import ChartKind


class TableKind(ChartKind):
    parameters = tuple(name for name in ChartKind.parameters if name != "log")
    page_draws = False


KIND = TableKind()

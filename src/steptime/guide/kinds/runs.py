"""Every run that the filters leave, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steptime.guide.engine import Guide
from steptime.guide.kinds.base import TABLES, Kind
from steptime.guide.query.results import RunList
from steptime.guide.view.view import View
from steptime.store.columns import NAMES

SHOWN = (
    "model", "phase", "software", "precision", "replicas", "replica_batch", "throughput", "ci_low", "batch_time_ms",
    "limit_share", "verdict", "device", "server",
)  # fmt: skip
"""columns of the page's table"""


class RunsKind(Kind[RunList]):
    parameters: tuple[str, ...] = ("scaling", "run")
    suffixes = TABLES
    columns = NAMES

    def answer(self, guide: Guide, view: View) -> RunList:
        return guide.runs(view)

    def title(self, answer: RunList) -> str:
        return "Runs"

    def items(self, answer: RunList) -> Sequence[dict[str, Any]]:
        return answer.rows

    def rows(self, answer: RunList) -> list[dict[str, Any]]:
        return list(answer.rows)


KIND = RunsKind()

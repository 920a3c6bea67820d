"""One run: its figures, its steps, what it ran on, how to repeat it, what it printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from steptime.core.schema import Record
from steptime.guide.charts import steps
from steptime.guide.engine import Guide
from steptime.guide.kinds.runs import RunsKind
from steptime.guide.query.logs import log_of
from steptime.guide.query.results import plain
from steptime.guide.view.view import View
from steptime.plan.repeat import repeat_command
from steptime.store.columns import row_of


class RunKind(RunsKind):
    """In files a list of one run; the page gets the whole record."""

    parameters = ("run",)

    def for_page(self, guide: Guide, view: View) -> dict[str, Any]:
        name = view.runs[0] if view.runs else ""
        return {"answer": complete_run(guide, name), "title": f"Run {name}", "subtitle": ""}


def complete_run(guide: Guide, name: str) -> dict[str, Any]:
    """All that is known of a run; its charts but for their size and theme."""
    record = guide.record(name)
    log, complete = log_of(guide.store, record)
    return {
        "row": row_of(record),
        "record": without_steps(replace(record, profile=None)),
        "command": repeat_command(record) if record.origin == "steptime" else "",
        "charts": {"steps": steps.open_steps(record), "histogram": steps.open_histogram(record)} if record.steps else None,
        "log": log,
        "log_truncated": not complete,
        "profile": plain(record.profile),
    }


def without_steps(record: Record) -> dict[str, Any]:
    """The record, with the number of its steps in place of the steps: the charts have those."""
    fields: dict[str, Any] = plain(record)
    if record.steps:
        fields["steps"] = {**fields["steps"], "seconds": None, "count": len(record.steps.seconds)}
    return fields


KIND = RunKind()

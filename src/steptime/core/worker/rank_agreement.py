"""What holds for all ranks of a case together: the same parameters, finite losses, and what they did to their machine."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import replace
from typing import Any

from steptime.core.backends.base import Program
from steptime.core.errors import Unsupported
from steptime.core.machine.contention import judge
from steptime.core.models.graph import Graph
from steptime.core.schema import OK, Phase, Record, Status
from steptime.core.worker.loop import Run
from steptime.core.worker.ranks import Rendezvous


def agreed_record(record: Record, run: Run, program: Program, graph: Graph, rendezvous: Rendezvous) -> Record:
    """The record of the whole; `wrong_result` if the ranks have drifted apart or one of them failed at the end."""
    steps = record.steps
    assert steps
    begin, end = _steady(run, steps.steady_start)
    said: list[dict[str, Any]] = rendezvous.gather(
        {
            "host": platform.node(),
            "cpu_seconds": end[1].cpu_seconds - begin[1].cpu_seconds,
            "digest": _digest(program, graph) if record.case.phase == Phase.TRAINING else "",
            "status": record.status,
            "message": record.message,
        }
    )
    here = [entry for entry in said if entry["host"] == platform.node()]
    own = end[1].cpu_seconds - begin[1].cpu_seconds
    others = sum(entry["cpu_seconds"] for entry in here) - own
    if record.contention and record.contention.reason != "this backend says so":
        together = replace(end[1], cpu_seconds=end[1].cpu_seconds + others)
        judged = judge(begin[1], together, end[0] - begin[0], record.case.threads * len(here))
        record = replace(record, contention=judged)
    for number, entry in enumerate(said):
        if entry["status"] != OK and record.status == OK:
            record = replace(record, status=entry["status"], message=f"rank {number}: {entry['message']}")
    if len({entry["digest"] for entry in said}) > 1 and record.status == OK:
        record = replace(record, status=Status.WRONG_RESULT, message="the ranks no longer have the same parameters")
    return record


def _steady(run: Run, start: int) -> tuple[Any, Any]:
    inside = [entry for entry in run.samples[:-1] if entry[0] >= start] or [run.samples[-2]]
    return inside[0], run.samples[-1]


def _digest(program: Program, graph: Graph) -> str:
    """Of all trained parameters, bit by bit; running statistics are each rank's own."""
    try:
        weights = program.weights()
    except Unsupported:
        return ""
    content = hashlib.sha256()
    for name in sorted(weights):
        if graph.parameters[name].trainable:
            content.update(weights[name].tobytes())
    return content.hexdigest()

"""What the ranks of a case must agree on at the end: parameters, status, and their joint use of the machine."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Callable, Optional

from steptime.core.backends.base import Program
from steptime.core.errors import Unsupported
from steptime.core.machine.contention import judge
from steptime.core.models.graph import Graph
from steptime.core.schema import TRUST, Contention, GpuUse, Phase, Record, Status
from steptime.core.worker.loop import Run
from steptime.core.worker.ranks import Rendezvous


def agreed_record(
    record: Record, run: Run, program: Program, graph: Graph, rendezvous: Rendezvous, judges_contention: bool
) -> Record:
    """The record of the whole; `wrong_result` if the ranks have drifted apart or one of them failed at the end."""
    assert record.steps
    (begin_steps, begin), (end_steps, end) = run.steady_samples(record.steps.steady_start)
    own_seconds = end.cpu_seconds - begin.cpu_seconds
    reports: list[dict[str, Any]] = rendezvous.gather(
        {
            "host": platform.node(),
            "cpu_seconds": own_seconds,
            "digest": _digest(program, graph) if record.case.phase == Phase.TRAINING else "",
            "status": record.status,
            "message": record.message,
            "gpu": vars(record.contention.gpu) if record.contention and record.contention.gpu else None,
        }
    )
    if judges_contention:
        here = [report for report in reports if report["host"] == platform.node()]
        other_seconds = sum(report["cpu_seconds"] for report in here) - own_seconds
        together = replace(end, cpu_seconds=end.cpu_seconds + other_seconds)
        judged = partial(judge, begin, together, end_steps - begin_steps, record.case.threads * len(here))
        record = replace(record, contention=slowest_card(judged, [report["gpu"] for report in reports]))
    for number, report in enumerate(reports):
        if report["status"] != Status.OK and record.status == Status.OK:
            record = replace(record, status=Status(report["status"]), message=f"rank {number}: {report['message']}")
    if len({report["digest"] for report in reports}) > 1 and record.status == Status.OK:
        record = replace(record, status=Status.WRONG_RESULT, message="the ranks no longer have the same parameters")
    return record


def slowest_card(judged: Callable[[Optional[GpuUse]], Contention], cards: Sequence[Optional[dict[str, Any]]]) -> Contention:
    """By the card of the rank that was disturbed most, since all wait for it; where none stands out, by rank 0's."""
    verdicts = [judged(GpuUse(**card) if card else None) for card in cards]
    worst = max(range(len(verdicts)), key=lambda number: TRUST[verdicts[number].verdict])
    return replace(verdicts[worst], reason=f"rank {worst}: {verdicts[worst].reason}") if worst else verdicts[0]


def _digest(program: Program, graph: Graph) -> str:
    """Of all trained parameters, bit by bit. Running statistics differ between ranks."""
    try:
        weights = program.weights()
    except Unsupported:
        return ""
    content = hashlib.sha256()
    for name in sorted(weights):
        if graph.parameters[name].trainable:
            content.update(weights[name].tobytes())
    return content.hexdigest()

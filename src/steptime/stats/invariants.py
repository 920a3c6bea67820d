"""What must hold of every measured record. A record that breaks one is kept as `wrong_result`, with the arithmetic."""

from __future__ import annotations

import math
from dataclasses import asdict

from steptime.schema import Record

PEAK_MARGIN = 1.05


def broken_invariant(record: Record) -> str:
    """The first one that does not hold, in words; empty if all do."""
    steps, summary, cost, resources = record.steps, record.summary, record.cost, record.resources
    if steps is None or summary is None or cost is None or resources is None:
        return "a measured record needs steps, summary, cost and resources"
    figures = [*steps.seconds, *(v for v in asdict(summary).values() if isinstance(v, float)), record.first_loss or 0.0]
    if not all(math.isfinite(v) for v in [*figures, record.last_loss or 0.0]):
        return "a figure is not finite"
    if min(steps.seconds) <= 0:
        return f"a step took {min(steps.seconds)} s: the clock is not monotone, or too coarse for this case"
    if not math.isclose(summary.mean_speed * summary.mean_seconds, record.case.effective_batch, rel_tol=1e-9):
        product = f"{summary.mean_speed} x {summary.mean_seconds} = {summary.mean_speed * summary.mean_seconds}"
        return f"mean_speed x mean_time = {product}, not the batch {record.case.effective_batch}"
    if record.machine and resources.peak_bytes > record.machine.memory_bytes:
        return f"peak memory {resources.peak_bytes} is above the machine's {record.machine.memory_bytes} bytes"
    if cost.achieved_flops and cost.peak_flops and cost.achieved_flops > PEAK_MARGIN * cost.peak_flops:
        return f"achieved {cost.achieved_flops:.4g} FLOP/s, above {PEAK_MARGIN} x the measured peak {cost.peak_flops:.4g}"
    return ""

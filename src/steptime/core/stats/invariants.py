"""What must hold of every measured record. A record that breaks one is kept as `wrong_result`, with the arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict

from steptime.core.schema import Case, Printed, Record, Status

PEAK_MARGIN = 1.05
PRINTED_MARGIN = 0.05
"""some tools print the mean of speeds for the speed of the mean; wrong units and counts are off by far more. Figures of few
digits may be off by more than this (Printed.rounding)"""


def broken_invariant(record: Record) -> str:
    """The first one that does not hold, in words; empty if all do."""
    if record.source:
        return _broken_import(record)
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


def _broken_import(record: Record) -> str:
    """Of what another tool wrote. A failure has no figures; whoever has some must have a speed, a time or a named other."""
    if record.status != Status.OK:
        return ""
    printed, summary = record.printed, record.summary
    if summary:
        printed = Printed(summary.mean_seconds, summary.mean_speed, summary.uncertainty, summary.jitter, summary.n)
    if printed is None:
        return "no figures"
    figures = dict(_figures(printed))
    steps = record.steps.seconds if record.steps else []
    for name, value in [*figures.items(), *(("step", second) for second in steps)]:
        if not math.isfinite(value):
            return f"{name} is {value}"
        if value < 0 or (value == 0 and name in POSITIVE):
            return f"{name} is {value}: it must be {'positive' if name in POSITIVE else 'zero or more'}"
        if value > MOST or (name in POSITIVE and value < LEAST):
            return f"{name} is {value}: no machine does that"
    if not figures and not printed.others:
        return "no figures"
    if not all(math.isfinite(value) for value in [*printed.others.values(), record.first_loss or 0.0, record.last_loss or 0.0]):
        return "a figure is not finite"
    return _broken_product(printed, record.case)


def _figures(printed: Printed) -> Iterator[tuple[str, float]]:
    return ((name, value) for name, value in vars(printed).items() if isinstance(value, (int, float)) and name != "rounding")


LEAST, MOST = 1e-12, 1e15
"""of any figure, in seconds, samples per second or bytes"""
POSITIVE = ("mean_seconds", "mean_speed", "n", "step", "min_seconds", "p50_seconds")


def _broken_product(printed: Printed, case: Case) -> str:
    seconds, speed, batch = printed.mean_seconds, printed.mean_speed, case.effective_batch or printed.effective_batch
    if min(case.batch, case.devices, case.nodes) < 0:
        return f"batch {case.batch} on {case.devices} devices of {case.nodes} nodes"
    if not (seconds and speed and batch):
        return ""
    if not math.isclose(seconds * speed, batch, rel_tol=max(PRINTED_MARGIN, printed.rounding)):
        return f"mean_speed x mean_time = {speed:.6g} x {seconds:.6g} = {seconds * speed:.6g}, not the batch {batch}"
    return ""

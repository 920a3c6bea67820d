"""Text tables and formats of figures: pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from steptime.core.schema import Record, Status
from steptime.store.columns import COLUMNS, Column, Row

FIGURE = re.compile(r"[-±]?[\d.,]+(e[+-]?\d+)?%?( ([kMG]?B|s|min|h))?$|\d+(x\d+)+$|\d+/\d+$")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns: figures to the right, words to the left."""
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    right = [bool(rows) and all(_is_figure(row[i]) for row in rows) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right, strict=True)).rstrip()
        for line in lines
    )


def _is_figure(cell: str) -> bool:
    return not cell or bool(FIGURE.match(cell))


CASE_COLUMNS = ("model", "phase", "backend", "precision", "effective_batch")
FIGURE_COLUMNS = ("throughput", "ci_low", "jitter", "batch_time_ms", "limit_share", "peak_bytes")
RESULT_HEADER = tuple(COLUMNS[name].title for name in (*CASE_COLUMNS, *FIGURE_COLUMNS, "verdict"))


def result_cells(row: Row) -> list[str]:
    """One line of the table that `run` and `list` print."""
    head = [str(row[name] or "") for name in CASE_COLUMNS]
    if row["status"] != Status.OK:
        return [*head, *([""] * len(FIGURE_COLUMNS)), f"{row['status']}: {row['message']}"[:90]]
    return [*head, *(_figure(row, COLUMNS[name]) for name in FIGURE_COLUMNS), row["verdict"]]


def _figure(row: Row, column: Column) -> str:
    value = row[column.name]
    if value is None:
        return ""
    if column.name == "ci_low":
        return f"{half_width(row):.1%}"
    if column.unit == "samples/s":
        unit = row.get("unit")
        return speed(value) if unit in (None, column.unit) else f"{speed(value)} {unit}"
    return _number(value, column)


def _number(value: float, column: Column) -> str:
    if column.form in ("percent", "bytes"):
        return share(value) if column.form == "percent" else size(value)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def with_unit(value: Any, column: Column, unit_of_speed: str) -> str:
    """A value where no heading says its unit."""
    if isinstance(value, dict):
        return " ".join(f"{key}={text}" for key, text in value.items())
    if value is None or column.kind == "text":
        return str(value or "")
    unit = unit_of_speed if column.unit == "samples/s" else column.unit
    return f"{_number(value, column)} {unit if column.form == 'number' else ''}".rstrip()


def half_width(row: Row) -> float:
    return float((row["ci_high"] - row["ci_low"]) / (2 * row["throughput"]))


def speed(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def size(count: float | None) -> str:
    if count is None:
        return ""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def number(count: float) -> str:
    return f"{count:,.0f}"


def fields(pairs: Sequence[tuple[str, Any]]) -> str:
    """Names and values, one pair to a line; empty ones are left out."""
    shown = [(name, str(value)) for name, value in pairs if value not in (None, "", [], {})]
    width = max((len(name) for name, _ in shown), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in shown)


def print_steps(record: Record) -> None:
    steps = record.steps
    if steps:
        losses = list(zip(steps.loss_steps, steps.losses, strict=True))
        print(steps_table(steps.seconds, steps.steady_start, record.case.effective_batch, losses), flush=True)


def steps_table(seconds: Sequence[float], start: int, batch: int, losses: Sequence[tuple[int, float | None]]) -> str:
    """The step lines that tf_cnn_benchmarks prints: running figures at step 1 and every tenth of the steady part."""
    import statistics

    lines = ["Step\tImg/sec\ttotal_loss"]
    steady = seconds[start:]
    for step in range(1, len(steady) + 1):
        if step != 1 and step % 10:
            continue
        speeds = [batch / t for t in steady[:step]]
        mean = batch * step / sum(steady[:step])
        uncertainty = statistics.pstdev(speeds) / step**0.5
        middle = statistics.median(speeds)
        jitter = 1.4826 * statistics.median(abs(s - middle) for s in speeds)
        known = [loss for at, loss in losses if at <= start + step and loss is not None]
        loss_text = f"\t{known[-1]:.3f}" if known else ""
        lines.append(f"{step}\timages/sec: {mean:.1f} +/- {uncertainty:.1f} (jitter = {jitter:.1f}){loss_text}")
    rule = "-" * 64
    total = batch * len(steady) / sum(steady)
    return "\n".join([*lines, rule, f"total images/sec: {total:.2f}", rule])

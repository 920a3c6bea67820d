"""One flat row per record: the columns of the Deep Learning Performance Guide. Derived, rebuilt at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from steptime.core.errors import UnknownName
from steptime.core.schema import OK, Case, Record
from steptime.store.columns import COLUMNS, NAMES, TABLE, model_name, speed_and_time
from steptime.store.files import Damaged, Store

Row = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows of a store. Damaged files are named, not counted."""

    rows: Sequence[Row]
    damaged: Sequence[Damaged]

    def where(self, wanted: Mapping[str, Sequence[str]]) -> list[Row]:
        """Rows whose column is one of the wanted values, for every column asked for."""
        check_columns(wanted)
        return [row for row in self.rows if all(str(row[c]) in values for c, values in wanted.items())]


def check_columns(names: Mapping[str, object]) -> None:
    for name in names:
        if name not in COLUMNS:
            raise UnknownName("column", name, NAMES)


def read_rows(store: Store) -> Rows:
    records, damaged = store.read()
    return Rows([row_of(record) for record in records], damaged)


def row_of(record: Record) -> Row:
    """Flat; what a failed case has no figure for, and what an imported one does not say, is None, never 0."""
    printed = record.printed
    if printed and record.status == OK:
        batch = COLUMNS["effective_batch"].of(record)
        speed, seconds = speed_and_time(printed.mean_speed, printed.mean_seconds, batch)
        record = replace(record, printed=replace(printed, mean_speed=speed, mean_seconds=seconds))
    return {column.name: column.of(record) for column in TABLE}


def case_words(case: Case) -> str:
    several = f" on {case.replicas} {case.device}" if case.replicas > 1 or case.device != "cpu" else ""
    return f"{model_name(case)} {case.phase} {case.backend} {case.precision} batch {case.batch}{several}"


def full_row(record: Record) -> Row:
    """The row, and beside it the raw steps and the figures that belong to one record only."""
    row = row_of(record)
    steps = record.steps
    return row | {
        "mean_speed": row["throughput"],
        "ci": [row["ci_low"], row["ci_high"]] if row["ci_low"] is not None else None,
        "flops_per_step": record.cost.flops_per_step if record.cost else None,
        "steps": steps.seconds if steps else [],
        "steady_start": steps.steady_start if steps else None,
        "stopped_by": steps.stopped_by if steps else None,
    }

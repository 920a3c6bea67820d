"""Rows as text for other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from steptime.schema import OK
from steptime.store.index import COLUMNS, Row

PSC_COLUMNS = ("mean_speed", "Mean_Time_Per_Step", "speed_uncertainty", "Speed_Jitter", "gpu_type", "num_gpu", "staged_from")


def csv_text(rows: Sequence[Row]) -> str:
    """All index columns; a missing figure is an empty field."""
    return _csv(COLUMNS, [[_field(row[c]) for c in COLUMNS] for row in rows])


def psc_text(rows: Sequence[Row]) -> str:
    """The table of the PSC Deep MNIST project: measured cases only, its columns and no others."""
    lines = [
        [
            row["throughput"],
            row["batch_time_ms"] / 1e3,
            row["uncertainty"],
            row["jitter"],
            row["device"],
            row["replicas"],
            row["data_store"],
        ]
        for row in rows
        if row["status"] == OK and row["batch_time_ms"] is not None
    ]
    return _csv(PSC_COLUMNS, lines)


def json_lines(rows: Sequence[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMATS = {"csv": csv_text, "psc": psc_text, "json": json_lines}


def _field(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict) else value


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()

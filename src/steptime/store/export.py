"""Rows as text for other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from steptime.core.schema import OK
from steptime.store.columns import NAMES
from steptime.store.rows import Row

PSC_COLUMNS = ("mean_speed", "Mean_Time_Per_Step", "speed_uncertainty", "Speed_Jitter", "gpu_type", "num_gpu", "staged_from")


def csv_text(rows: Sequence[Row]) -> str:
    """All index columns; a missing figure is an empty field."""
    return _csv(NAMES, [[_field(row[c]) for c in NAMES] for row in rows])


def psc_text(rows: Sequence[Row]) -> str:
    """The table of the PSC Deep MNIST project: measured cases only, its columns and no others."""
    lines = [
        [
            row["throughput"],
            row["batch_time_ms"] / 1e3,
            row["uncertainty"],
            row["jitter"],
            gpu_type(row),
            row["replicas"],
            staged_from(row),
        ]
        for row in rows
        if _is_psc(row)
    ]
    return _csv(PSC_COLUMNS, lines)


def _is_psc(row: Row) -> bool:
    """Measured, with all four figures; what other tools printed may lack some."""
    needed = ("throughput", "batch_time_ms", "uncertainty", "jitter", "data_store")
    return row["status"] == OK and all(row[column] is not None for column in needed)


def psc_files(rows: Sequence[Row]) -> dict[str, str]:
    """The files of that project, one per measured case: YYYY-MM-DD-<type>:<count>:<staged>, numbered where they would clash."""
    files: dict[str, str] = {}
    for row in rows:
        if _is_psc(row):
            name = f"{(row['started'] or '')[:10]}-{gpu_type(row)}:{row['replicas']}:{row['data_store']}".replace("/", "_")
            same = sum(known == name or known.startswith(f"{name}:") for known in files)
            files[f"{name}:{same + 1}" if same else name] = _psc_lines(row)
    return files


def _psc_lines(row: Row) -> str:
    return (
        f"{row['model']} {row['phase']}, batch {row['effective_batch']}, {row['software']}, job {row['job'] or '-'}\n"
        f"Mean Time Per Step : {row['batch_time_ms'] / 1e3:.9g}\n"
        f"Mean Speed : {row['throughput']:.9g}\n"
        f"speed uncertainty : {row['uncertainty']:.9g}\n"
        f"Speed Jitter : {row['jitter']:.9g}\n"
    )


def gpu_type(row: Row) -> str:
    """What was asked of a cluster by name; else the device."""
    return str(row["device_asked"] if row["job"] else row["device"])


def staged_from(row: Row) -> str:
    """Directories as that project writes them: $SCRATCH, $LOCAL."""
    return str(row["data_store"]) if row["data"] == "synthetic" else f"${str(row['data_store']).upper()}"


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

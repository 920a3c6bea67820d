"""The Deep MNIST project of the Pittsburgh Supercomputing Center: output files `YYYY-MM-DD-type:count:staged`, and their CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from steptime.importing.source_file import NUMBER, Entry, File, Refused, first_group, number, whole_number
from steptime.importing.tables import csv_table

TOOL = "PSC Deep MNIST"

NAME = re.compile(r"(\d{4}-\d\d-\d\d)-([^:/]+)[:](\d{1,6})[:](\$?\w+)")
MEAN_TIME = re.compile(r"^[ \t]*Mean Time(?: Per Step)?[ \t]*:", re.MULTILINE)
CSV_START = "mean_speed,Mean_Time_Per_Step,speed_uncertainty,Speed_Jitter,gpu_type,num_gpu,staged_from"

FURTHER = {"model": "model", "phase": "phase", "precision": "precision", "software": "framework", "optimizer": "optimizer"}
"""columns that `steptime export` adds where rows differ in them, and their fields"""

MAX_BATCH = 10_000
"""a sixth of MNIST; more means milliseconds for seconds"""


def looks_like(file: File) -> bool:
    if file.binary:
        return False
    start = file.head[:200].lstrip(',"')
    return start.replace('"', "").startswith(CSV_START) or bool("Mean Time" in file.head and MEAN_TIME.search(file.head))


def entries(file: File) -> Iterator[Entry]:
    if not MEAN_TIME.search(file.head):
        yield from _rows(file)
        return
    named = NAME.search(file.name)
    figures = {key: _figure(file, label) for key, label in LABELS.items()}
    place = re.search(r"(?i)^[ \t]*Mean Speed", file.text, re.MULTILINE)
    yield _entry(
        line=file.line_of(place.start()) if place else 1,
        figures=figures,
        kind=named.group(2) if named else "",
        count=named.group(3) if named else "",
        staged=named.group(4) if named else "",
        started=named.group(1) if named else "",
    )


LABELS = {
    "seconds": r"Mean Time(?: Per Step)?",
    "speed": r"Mean Speed(?:[ \t]*\([^)\n]*\))?",
    "uncertainty": r"speed uncertainty",
    "jitter": r"Speed Jitter",
}


def _figure(file: File, label: str) -> float | None:
    return number(first_group(rf"(?i)^[ \t]*{label}[ \t]*:[ \t]*({NUMBER}|nan|inf)", file.text))


def _rows(file: File) -> Iterator[Entry]:
    table = csv_table(file)
    if not table:
        raise Refused("its first line is not a line of names", 1)
    date = first_group(r"(\d{4}-\d\d-\d\d)", file.name)
    for line, row in table.rows:
        keys = {
            "speed": "mean_speed",
            "seconds": "Mean_Time_Per_Step",
            "uncertainty": "speed_uncertainty",
            "jitter": "Speed_Jitter",
        }
        figures = {key: number(row.get(column)) for key, column in keys.items()}
        entry = _entry(line, figures, row.get("gpu_type", ""), row.get("num_gpu", ""), row.get("staged_from", ""), date)
        further = {field: row[column] for column, field in FURTHER.items() if row.get(column)}
        yield replace(entry, **further, batch=whole_number(row.get("batch", "")) or entry.batch)


def _entry(line: int, figures: dict[str, float | None], kind: str, count: str, staged: str, started: str) -> Entry:
    """The project defines speed as batch / mean time, so their product is the batch."""
    speed, seconds = figures["speed"], figures["seconds"]
    if speed is None or seconds is None:
        raise Refused("mean speed or mean time is missing", line)
    product = speed * seconds
    batch = round(product) if abs(product) < 1e9 else 0
    if not 1 <= batch <= MAX_BATCH or abs(product - batch) > 0.001 * batch:
        raise Refused(f"mean speed x mean time = {speed:g} x {seconds:g} = {product:g}, which is no batch of MNIST", line)
    devices = whole_number(count)
    return Entry(
        line=line,
        model="Deep MNIST",
        framework="tensorflow",
        phase="training",
        batch=batch if devices == 1 else 0,
        global_batch=batch,
        devices=devices,
        nodes=1,
        device=kind,
        device_kind="cpu" if kind.lower() == "cpu" else "gpu" if kind else "",
        data="MNIST",
        data_store=staged.strip("$").lower(),
        started=started,
        seconds=seconds,
        speed=speed,
        uncertainty=figures["uncertainty"],
        jitter=figures["jitter"],
        raw={"num_gpu": count, "gpu_type": kind, "staged_from": staged},
        notes=["batch = mean speed x mean time, by the project's definition of speed"],
    )

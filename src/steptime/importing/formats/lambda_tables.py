"""Lambda's summary tables: images/sec of tf_cnn_benchmarks by GPU (rows) and model (columns), in CSV or JSON.

`tf-train-throughput-fp32.csv` has the speeds and `tf-train-bs-fp32.csv` beside it, of the same shape, the batches of all GPUs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile, first_group, number, whole_number
from steptime.importing.tables import csv_table, json_table

TOOL = "Lambda tables"

NAMES = ("name_gpu", "num_gpu")
SPEEDS, BATCHES = "throughput", "bs"
Rows = list[tuple[int, Mapping[str, Any]]]


def looks_like(file: File) -> bool:
    start = file.head[:200].lstrip()
    return start.startswith("name_gpu,num_gpu,") or (start.startswith("[") and '"name_gpu"' in start and '"num_gpu"' in start)


def entries(file: File) -> Iterator[Entry]:
    """0 stands for what did not run, and is left out."""
    kind = first_group(rf"(?:^|[-_])({SPEEDS}|{BATCHES})(?=[-_.])", file.name)
    if not kind:
        raise Refused("a table of GPUs and models whose name says neither 'throughput' nor 'bs': speeds or batches?", 1)
    if kind == BATCHES:
        raise _batch_table(file)
    rows = _rows(file)
    batches, table = _batches(file), _digest(rows)
    for position, (line, row) in enumerate(rows):
        for model, value in row.items():
            if model not in NAMES and (speed := number(value)):
                batch = batches.get((str(row["name_gpu"]), whole_number(row["num_gpu"]), model), 0)
                yield _entry(file, line, row, model, speed, batch, f"{table}:{position}")


def _batch_table(file: File) -> Refused:
    names = [file.name.replace(f"{BATCHES}-", f"{SPEEDS}-").rpartition(".")[0] + suffix for suffix in (".csv", ".json")]
    if any(file.sibling(name) for name in names):
        return SupplementaryFile("batch sizes; they are read with the throughput table beside them")
    return Refused(f"batch sizes of a throughput table ({' or '.join(names)}) that is not beside them", 1)


def _entry(file: File, line: int, row: Mapping[str, Any], model: str, speed: float, batch: int, same_as: str) -> Entry:
    name, devices = str(row["name_gpu"]), whole_number(row["num_gpu"])
    shared = batch and devices and batch % devices == 0
    return Entry(
        line=line,
        same_as=same_as,
        model=model,
        framework="tensorflow",
        phase=first_group(r"[-_/](train|inference)[-_/.]", file.path_text),
        precision=first_group(r"[-_/](fp16|fp32)[-_/.]", file.path_text),
        batch=batch // devices if shared else 0,
        global_batch=batch,
        devices=devices,
        nodes=1,
        device=re.sub(r"^Lambda Cloud — |^\d+x |(?<= )NVLink$", "", re.sub(r"^Lambda Cloud — ", "", name)).strip(),
        device_kind="gpu",
        server="Lambda Cloud" if name.startswith("Lambda Cloud") else "",
        interconnect="NVLink" if name.endswith("NVLink") else "",
        data="synthetic" if first_group(r"[-_/](syn)[-_/.]", file.path_text) else "",
        speed=speed,
        raw={"name_gpu": name},
        notes=["batch from the table of batch sizes beside it"] if batch else [],
    )


def _batches(file: File) -> dict[tuple[str, int, str], int]:
    """By GPU, number of GPUs and model; empty where no such table is beside the file."""
    stem = file.name.replace(f"{SPEEDS}-", f"{BATCHES}-").rpartition(".")[0]
    beside = next((sibling for suffix in (".csv", ".json") if (sibling := file.sibling(stem + suffix))), None)
    if beside is None or not looks_like(beside):
        return {}
    return {
        (str(row["name_gpu"]), whole_number(row["num_gpu"]), model): whole_number(value)
        for _, row in _rows(beside)
        for model, value in row.items()
        if model not in NAMES
    }


def _rows(file: File) -> Rows:
    table = json_table(file) or csv_table(file)
    if not table:
        raise Refused("neither a CSV nor a list of JSON objects", 1)
    return list(table.rows)


def _digest(rows: Rows) -> str:
    """The same for a CSV and its JSON twin, which are one result."""
    content = [[(name, str(value)) for name, value in row.items()] for _, row in rows]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()

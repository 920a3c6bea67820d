"""The record contract of the Deep Learning Performance Guide: CSV or JSON with its axes and filters as columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.importing.source_file import Entry, File, number, whole_number
from steptime.importing.tables import Table, csv_table, json_table

TOOL = "DLPG"

FIGURES = {"batchtimems", "throughput"}
OURS = {"processingunit", "effectivebatchsize", "replicabatchsize", "numprocessingunits"}
"""names that no other tool uses for these"""


def looks_like(file: File) -> bool:
    table = _table(file)
    if not table:
        return False
    columns = {_plain(name) for name in table.columns}
    return bool(columns & FIGURES) and bool(columns & OURS) and "model" in columns


def entries(file: File) -> Iterator[Entry]:
    table = _table(file)
    assert table
    for line, row in table.rows:
        yield _entry({_plain(str(name)): value for name, value in row.items()}, line)


def _table(file: File) -> Table | None:
    return None if file.binary else json_table(file) or csv_table(file)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _entry(row: Mapping[str, Any], line: int) -> Entry:
    def get(*names: str) -> str:
        return next((str(row[name]).strip() for name in names if row.get(name) not in (None, "")), "")

    units = whole_number(get("count", "numprocessingunits"))
    nodes = whole_number(get("clustersize", "nodes")) or 1
    devices = whole_number(get("count", "devicespernode")) or (units // nodes if units % nodes == 0 else units)
    effective, replica = (
        whole_number(get("effectivebatchsize", "effectivebatch")),
        whole_number(get("replicabatchsize", "replicabatch")),
    )
    if not replica and effective and devices and effective % (devices * nodes) == 0:
        replica = effective // (devices * nodes)
    milliseconds = number(get("batchtimems", "batchtime"))
    kind, store = _data(get("datatype", "data"))
    return Entry(
        line=line,
        model=get("model"),
        framework=get("framework"),
        version=get("frameworkversion"),
        phase=get("phase"),
        precision=get("precision"),
        batch=replica,
        devices=devices,
        nodes=nodes,
        device=get("processingunit"),
        server=get("server"),
        interconnect=get("interconnect"),
        data=kind,
        data_store=store or get("datastore"),
        seconds=None if milliseconds is None else milliseconds / 1e3,
        speed=number(get("throughput")),
        raw={"software": get("software"), "data type": get("datatype", "data")},
    )


def _data(text: str) -> tuple[str, str]:
    """`Real (local NVMe)` to ('real', 'nvme')."""
    match = re.match(r"(?i)\s*(real|synthetic)\s*(?:\((?:local )?([^)]*)\))?", text)
    return (match.group(1).lower(), (match.group(2) or "").lower()) if match else (text, "")

"""Tables of any shape, by a small mapping file: which of their columns is which of ours.

tool = "lab sheet"              # what `origin` will say
rows = "results"                # JSON only: where the list is, if it is not the whole file

[columns]                       # our column = theirs; `a.b` reaches into JSON
model = "Network"
throughput = "img/s"

[constants]                     # what the table does not say, for all of its rows
framework = "pytorch"

[scale]                         # figures are multiplied by this
batch_time_ms = 1000
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steptime.core.errors import UnknownName, UsageError
from steptime.core.schema import FAILURES, OK
from steptime.importing.foreign import Entry, File, Refused, number
from steptime.importing.tables import Table, csv_table, json_table

WORDS = {
    "model": "model", "framework": "framework", "framework_version": "version", "phase": "phase", "precision": "precision",
    "device": "device", "device_type": "device_kind", "server": "server", "interconnect": "interconnect", "runtime": "runtime",
    "data": "data", "data_store": "data_store", "optimizer": "optimizer", "started": "started", "status": "status",
    "message": "message",
}  # fmt: skip
COUNTS = {
    "replica_batch": "batch", "effective_batch": "global_batch", "devices_per_node": "devices", "nodes": "nodes",
    "threads": "threads", "steps": "n", "peak_bytes": "peak_bytes",
}  # fmt: skip
FIGURES = {"throughput": "speed", "uncertainty": "uncertainty", "jitter": "jitter"}
MILLISECONDS = {"batch_time_ms": "seconds", "min_ms": "min_seconds", "max_ms": "max_seconds"}
PERCENTILES = {"p50_ms": 50, "p90_ms": 90, "p95_ms": 95, "p99_ms": 99}
COLUMNS = (*WORDS, *COUNTS, *FIGURES, *MILLISECONDS, *PERCENTILES)
KEYS = ("tool", "rows", "columns", "constants", "scale")


class Mapped:
    """An importer made from a mapping file."""

    def __init__(self, tool: str, rows: str, columns: dict[str, str], constants: dict[str, Any], scale: dict[str, float]) -> None:
        self.TOOL = tool
        self.rows, self.columns, self.constants, self.scale = rows, columns, constants, scale

    def looks_like(self, file: File) -> bool:
        return True

    def entries(self, file: File) -> Iterator[Entry]:
        table = self._table(file)
        for line, row in table.rows:
            found = {name: _reach(row, column) for name, column in self.columns.items()}
            for name, factor in self.scale.items():
                value = number(found.get(name))
                found[name] = None if value is None else value * factor
            theirs = {f"{column}": str(_reach(row, column)) for column in self.columns.values()}
            yield entry_of(self.constants | {k: v for k, v in found.items() if v not in (None, "")}, line, theirs)

    def _table(self, file: File) -> Table:
        table = _listed(file, self.rows) if self.rows else json_table(file) or csv_table(file)
        if not table or not table.rows:
            raise Refused("neither a CSV with names in its first line nor a list of JSON objects")
        missing = [c for c in self.columns.values() if c not in table.columns and _reach(table.rows[0][1], c) is None]
        if missing:
            raise Refused(f"it has no column '{missing[0]}'; it has {', '.join(map(str, table.columns))[:300]}", 1)
        return table


def mapped_by(path: Path) -> Mapped:
    """The mapping in a file; what is wrong with it is said in one line."""
    try:
        found = tomllib.loads(path.read_text())
    except OSError as problem:
        raise UsageError(f"cannot read the mapping {path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"the mapping {path} is not TOML: {problem}") from None
    for key in found:
        if key not in KEYS:
            raise UnknownName("key in the mapping", key, KEYS)
    columns, constants, scale = (_part(found, key) for key in ("columns", "constants", "scale"))
    for name in (*columns, *constants, *scale):
        if name not in COLUMNS:
            raise UnknownName("column in the mapping", name, COLUMNS)
    if not columns:
        raise UsageError(f"the mapping {path} has no [columns]")
    factors = {name: number(value) for name, value in scale.items()}
    if not all(value is not None and math.isfinite(value) and value > 0 for value in factors.values()):
        raise UsageError(f"[scale] in {path} takes positive numbers")
    words = {name: str(value) for name, value in columns.items()}
    return Mapped(
        str(found.get("tool", "mapping")), str(found.get("rows", "")), words, constants, {k: v for k, v in factors.items() if v}
    )


def _part(found: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = found.get(key, {})
    if not isinstance(part, dict):
        raise UsageError(f'[{key}] in the mapping is a table, such as `[{key}]` and then `model = ".."`')
    return part


def _listed(file: File, place: str) -> Table | None:
    rows = _reach(file.json, place) if isinstance(file.json, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Refused(f"there is no list of objects at '{place}'")
    return Table(list(rows[0]) if rows else [], list(enumerate(rows, start=1)))


def _reach(row: Any, column: str) -> Any:
    """The column of that name, else `a.b` as b within a."""
    if isinstance(row, Mapping) and column in row:
        return row[column]
    for part in column.split("."):
        row = row.get(part) if isinstance(row, Mapping) else None
    return row


def entry_of(values: Mapping[str, Any], line: int, raw: dict[str, str]) -> Entry:
    """By the names of our own columns."""
    found: dict[str, Any] = {theirs: str(values[ours]) for ours, theirs in WORDS.items() if values.get(ours) not in (None, "")}
    found |= {theirs: _count(ours, values[ours], line) for ours, theirs in COUNTS.items() if values.get(ours) not in (None, "")}
    found |= {theirs: _figure(ours, values[ours], line) for ours, theirs in FIGURES.items() if values.get(ours) not in (None, "")}
    for ours, theirs in MILLISECONDS.items():
        if values.get(ours) not in (None, ""):
            found[theirs] = _figure(ours, values[ours], line) / 1e3
    percentiles = {
        p: _figure(ours, values[ours], line) / 1e3 for ours, p in PERCENTILES.items() if values.get(ours) not in (None, "")
    }
    if found.get("status", OK) not in (OK, *FAILURES):
        raise Refused(f"unknown status '{found['status']}'; known: {', '.join((OK, *FAILURES))}", line)
    if "batch" not in found and found.get("global_batch") and found.get("devices", 0) == found.get("nodes", 1) == 1:
        found["batch"] = found["global_batch"]
    if found.get("devices"):
        found.setdefault("nodes", 1)
    return Entry(line=line, percentiles=percentiles, raw=raw, **found)


def _figure(name: str, value: Any, line: int) -> float:
    found = number(value)
    if found is None:
        raise Refused(f"{name} is '{value}', which is no figure", line)
    return found


def _count(name: str, value: Any, line: int) -> int:
    found = _figure(name, value, line)
    if not math.isfinite(found) or found != int(found):
        raise Refused(f"{name} is '{value}', which is no whole number", line)
    return int(found)

"""Tables of any shape, by a small mapping file: which of their columns is which of ours.

tool = "lab sheet"              # what `origin` will say
rows = "results.runs"           # JSON only: where the list is, if it is neither the whole file nor the only list in it

[columns]                       # our column = theirs; `a.b` and `a.0.b` reach into JSON
model = "Network"
throughput = "img/s"
label.owner = "who"             # a label of your own

[constants]                     # what the table does not say, for all of its rows
framework = "pytorch"

[scale]                         # figures are multiplied by this
batch_time_ms = 1000
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from steptime.core.errors import UnknownName, UsageError
from steptime.core.schema import FAILURES, SETTINGS, Status
from steptime.importing.source_file import Entry, File, Refused, number, rounding
from steptime.importing.tables import Table, csv_table, json_lines, json_table

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
VARIANT = "variant"
"""settings without a column of their own: `kernels=cudnn,build=pip`"""
COLUMNS = (*WORDS, *SETTINGS, VARIANT, *COUNTS, *FIGURES, *MILLISECONDS, *PERCENTILES)
DEFAULT_UNIT = "samples/s"
"""as exported tables say it of most rows"""
LABEL = "label."
"""before the name of a label"""
KEYS = ("tool", "rows", "columns", "constants", "scale")


class MappedImporter:
    """An importer made from a mapping file."""

    def __init__(self, tool: str, rows: str, columns: dict[str, str], constants: dict[str, Any], scale: dict[str, float]) -> None:
        self.TOOL = tool
        self.rows, self.columns, self.constants, self.scale = rows, columns, constants, scale

    def looks_like(self, file: File) -> bool:
        return True

    def entries(self, file: File) -> Iterator[Entry]:
        enclosing = file.json if isinstance(file.json, dict) else {}
        for line, row in self._table(file, enclosing).rows:
            theirs = {column: self._cell(row, enclosing, column) for column in self.columns.values()}
            values = {name: theirs[column] for name, column in self.columns.items() if theirs[column] not in (None, "")}
            printed = rounding(*(values[name] for name in ("throughput", "batch_time_ms") if name in values))
            for name, factor in self.scale.items():
                if name in values:
                    values[name] = _figure(name, values[name], line) * factor
            raw = {column: str(value) for column, value in theirs.items() if value is not None}
            yield entry_of(self.constants | values, line, raw, printed)

    def _table(self, file: File, enclosing: Mapping[str, Any]) -> Table:
        """The first reading of the file in which every column is present."""
        tables = [_table_at(file, self.rows)] if self.rows else [t for t in _tables(file) if t.rows]
        if not tables or not tables[0].rows:
            raise Refused(
                "neither a CSV with names in its first line nor JSON: an object, a list of objects, or one on every line"
            )
        missing = {id(table): self._missing(table, enclosing) for table in tables}
        chosen = next((table for table in tables if not missing[id(table)]), tables[-1])
        if missing[id(chosen)]:
            known = ", ".join(map(str, chosen.columns))[:300]
            raise Refused(f"it has no column '{missing[id(chosen)][0]}'; it has {known}", 1)
        return chosen

    def _missing(self, table: Table, enclosing: Mapping[str, Any]) -> list[str]:
        return [
            column
            for column in self.columns.values()
            if column not in table.columns and all(self._cell(row, enclosing, column) is None for _, row in table.rows)
        ]

    def _cell(self, row: Mapping[str, Any], enclosing: Mapping[str, Any], column: str) -> Any:
        """Of the row, else of the object enclosing the list: what is said once is true of all rows."""
        value = value_at(row, column)
        return value_at(enclosing, column) if value is None else value


def _tables(file: File) -> list[Table]:
    """What the file may be meant as. An object that has every column by itself is one row, whatever lists are in it."""
    alone = Table(list(file.json), [(1, file.json)]) if isinstance(file.json, dict) else None
    return [table for table in (alone, json_lines(file), json_table(file), csv_table(file)) if table]


def read_mapping(path: Path) -> MappedImporter:
    """The mapping in a file; what is wrong with it is said in one line."""
    try:
        content = tomllib.loads(path.read_text())
    except OSError as problem:
        raise UsageError(f"cannot read the mapping {path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"the mapping {path} is not TOML: {problem}") from None
    for key in content:
        if key not in KEYS:
            raise UnknownName("key in the mapping", key, KEYS)
    columns, constants, scale = (_with_labels(_part(content, key)) for key in ("columns", "constants", "scale"))
    for name in (*columns, *constants, *scale):
        if name not in COLUMNS and not name.startswith(LABEL):
            raise UnknownName("column in the mapping", name, (*COLUMNS, f"{LABEL}NAME"))
    if not columns:
        raise UsageError(f"the mapping {path} has no [columns]")
    factors = {name: number(value) for name, value in scale.items()}
    if not all(value is not None and math.isfinite(value) and value > 0 for value in factors.values()):
        raise UsageError(f"[scale] in {path} takes positive numbers")
    words = {name: str(value) for name, value in columns.items()}
    return MappedImporter(
        str(content.get("tool", "mapping")),
        str(content.get("rows", "")),
        words,
        constants,
        {k: v for k, v in factors.items() if v},
    )


def _part(content: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = content.get(key, {})
    if not isinstance(part, dict):
        raise UsageError(f'[{key}] in the mapping is a table, such as `[{key}]` and then `model = ".."`')
    return part


def _with_labels(part: dict[str, Any]) -> dict[str, Any]:
    """`label.owner = ".."`, quoted or not, as `label.owner`."""
    labels = part.get("label")
    if not isinstance(labels, dict):
        return part
    flat = {name: value for name, value in part.items() if name != "label"}
    return flat | {f"{LABEL}{name}": value for name, value in labels.items()}


def _table_at(file: File, place: str) -> Table:
    rows = value_at(file.json, place)
    if isinstance(rows, dict):
        rows = [rows]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Refused(f"there is no list of objects at '{place}'")
    return Table(list(dict.fromkeys(name for row in rows for name in row)), list(enumerate(rows, start=1)))


def value_at(row: Any, column: str) -> Any:
    """The column of that name, else `a.b` as b within a; a number is a place in a list. Names may have dots themselves."""
    if isinstance(row, Sequence) and not isinstance(row, str):
        row = {str(place): value for place, value in enumerate(row)}
    if not isinstance(row, Mapping):
        return None
    if column in row:
        return row[column]
    ends = [place for place, character in enumerate(column) if character == "." and column[:place] in row]
    reached = (value_at(row[column[:end]], column[end + 1 :]) for end in reversed(ends))
    return next((value for value in reached if value is not None), None)


def entry_of(values: Mapping[str, Any], line: int, raw: dict[str, str], printed: float = 0.0) -> Entry:
    """By the names of our own columns; printed is the rounding of speed x time."""
    values = {name: value for name, value in values.items() if value not in (None, "")}
    fields: dict[str, Any] = {theirs: str(values[ours]) for ours, theirs in WORDS.items() if ours in values}
    fields |= {theirs: _count(ours, values[ours], line) for ours, theirs in COUNTS.items() if ours in values}
    fields |= {theirs: _figure(ours, values[ours], line) for ours, theirs in FIGURES.items() if ours in values}
    fields |= {theirs: _figure(ours, values[ours], line) / 1e3 for ours, theirs in MILLISECONDS.items() if ours in values}
    percentiles = {percent: _figure(ours, values[ours], line) / 1e3 for ours, percent in PERCENTILES.items() if ours in values}
    settings = {name: str(values[name]) for name in SETTINGS if values.get(name, DEFAULT_UNIT) != DEFAULT_UNIT}
    settings |= dict(pair.split("=", 1) for pair in str(values.get(VARIANT, "")).split(",") if "=" in pair)
    labels = {name.removeprefix(LABEL): str(value) for name, value in values.items() if name.startswith(LABEL)}
    if fields.get("status", Status.OK) not in (Status.OK, *FAILURES):
        raise Refused(f"unknown status '{fields['status']}'; known: {', '.join((Status.OK, *FAILURES))}", line)
    if "batch" not in fields and fields.get("global_batch") and fields.get("devices", 0) == fields.get("nodes", 1) == 1:
        fields["batch"] = fields["global_batch"]
    if fields.get("devices"):
        fields.setdefault("nodes", 1)
    return Entry(line=line, percentiles=percentiles, raw=raw, rounding=printed, settings=settings, labels=labels, **fields)


def _figure(name: str, value: Any, line: int) -> float:
    figure = number(value)
    if figure is None:
        raise Refused(f"{name} is '{value}', which is no figure", line)
    return figure


def _count(name: str, value: Any, line: int) -> int:
    figure = _figure(name, value, line)
    if not math.isfinite(figure) or figure != int(figure):
        raise Refused(f"{name} is '{value}', which is no whole number", line)
    return int(figure)

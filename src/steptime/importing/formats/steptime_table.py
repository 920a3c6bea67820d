"""steptime's own columns as CSV: what `steptime export` writes, and the reference set that comes with steptime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from steptime.importing.mapping import COLUMNS, entry_of
from steptime.importing.source_file import Entry, File, Refused, number
from steptime.importing.tables import csv_table

TOOL = "steptime table"


def looks_like(file: File) -> bool:
    names = file.head.partition("\n")[0].strip().split(",")
    return {"model", "phase", "throughput", "batch_time_ms", "effective_batch"} <= set(names)


def entries(file: File) -> Iterator[Entry]:
    """Columns that are not ours are kept in the source's words; `other:NAME` are figures that have no column."""
    table = csv_table(file)
    if not table:
        raise Refused("its first line is not a line of names", 1)
    for line, row in table.rows:
        ours = {name: value for name, value in row.items() if name in COLUMNS}
        others = {name.removeprefix("other:"): number(text) for name, text in row.items() if name.startswith("other:") and text}
        theirs = {
            name: text
            for name, text in row.items()
            if text and name not in COLUMNS and not name.startswith("other:") and name != "note"
        }
        known = {name: value for name, value in others.items() if value is not None}
        origin = row.get("origin", "")
        yield replace(
            entry_of(ours, line, theirs),
            tool=origin if origin not in ("", "steptime") else "",
            others=known,
            notes=[row["note"]] if row.get("note") else [],
        )

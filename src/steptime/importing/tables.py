"""Tables in files: CSV, TSV and JSON as rows with the line on which each stands."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steptime.importing.source_file import File

MAX_FIELD = 1 << 20


@dataclass(frozen=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[tuple[int, Mapping[str, Any]]]


def csv_table(file: File, separator: str = "") -> Table | None:
    """With the names in the first line. Rows that are one field longer have a nameless index first, as pandas writes."""
    first = next((line for line in file.head.splitlines() if line.strip()), "")
    separator = separator or ("\t" if first.count("\t") > first.count(",") else ",")
    if separator not in first or file.head.lstrip()[:1] in ("{", "["):
        return None
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator))]
    if not all(names[1:]) or len(set(names)) != len(names):
        return None
    return Table(names, list(_rows(file.text, names, separator)))


def _rows(text: str, names: list[str], separator: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    csv.field_size_limit(MAX_FIELD)
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    started = False
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if not started:
            started = True
            continue
        if len(cells) == len(names) + 1:
            cells = cells[1:]
        yield reader.line_num, dict(zip(names, (cell.strip() for cell in cells), strict=False))


def json_lines(file: File) -> Table | None:
    """An object on every line, with the names of all of them."""
    if file.head.lstrip()[:1] != "{":
        return None
    rows = []
    for line, text in enumerate(file.lines, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(row, dict):
            return None
        rows.append((line, row))
    return Table(list(dict.fromkeys(name for _, row in rows for name in row)), rows)


def json_table(file: File) -> Table | None:
    """A list of objects, or the one list of objects within an object."""
    content = file.json
    if isinstance(content, dict):
        lists = [value for value in content.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        content = lists[0] if len(lists) == 1 else None
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        return None
    return Table(list(content[0]), list(enumerate(content, start=1)))

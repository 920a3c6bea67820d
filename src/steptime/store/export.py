"""Rows as text for other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from steptime.store.columns import NAMES, Row
from steptime.store.psc import psc_table


def csv_text(rows: Sequence[Row]) -> str:
    """All index columns; a missing figure is an empty field."""
    return _csv(NAMES, [[_field(row[c]) for c in NAMES] for row in rows])


def psc_text(rows: Sequence[Row], contended: bool = False) -> str:
    return _csv(*psc_table(rows, contended))


def json_lines(rows: Sequence[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMATS = {"csv": csv_text, "json": json_lines}
"""of all rows"""


def _field(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict) else value


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()

"""Rows as text for other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from operator import itemgetter

from steptime.store.columns import LABELS, NAMES, Row
from steptime.store.psc import psc_table


def csv_text(rows: Sequence[Row]) -> str:
    """All index columns; a missing figure is an empty field."""
    fields = itemgetter(*NAMES)
    return _csv(NAMES, (fields({**row, LABELS: json.dumps(row[LABELS])}) for row in rows))


def psc_text(rows: Sequence[Row], contended: bool = False) -> str:
    return _csv(*psc_table(rows, contended))


def json_lines(rows: Sequence[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMATS = {"csv": csv_text, "json": json_lines}
"""of all rows"""


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()

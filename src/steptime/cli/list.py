"""`steptime list`: list the records in the store."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option


@click.command("list")
@click.option("--where", "-w", "filters", multiple=True, metavar="COLUMN=V,..", help="Only rows with one of these values.")
@click.option("--last", type=int, default=0, metavar="N", help="Only the newest N.")
@json_option
@store_option
def command(filters: tuple[str, ...], last: int, as_json: bool, store_path: str | None) -> int:
    """List the records, oldest first."""
    from steptime.cli.printing import RESULT_HEADER, result_cells, table

    rows = selected(store_path, filters, last)
    if as_json:
        for row in rows:
            print(json.dumps(row))
    elif rows:
        print(table(("id", *RESULT_HEADER), [[row["id"], *result_cells(row)] for row in rows]))
    else:
        print(f"no records in {open_store(store_path).root}; `steptime run` makes some", file=sys.stderr)
    return 0


def selected(store_path: str | None, filters: tuple[str, ...], last: int = 0) -> Sequence[dict[str, Any]]:
    """Rows of the store that pass the filters; damaged files are reported on stderr, once, since they are moved away."""
    from steptime.store.lookup import rows

    selection = rows(open_store(store_path), wanted(filters), last)
    for damaged in selection.damaged:
        print(f"steptime: {damaged.path}: {damaged.reason}", file=sys.stderr)
    return selection.rows


def wanted(filters: tuple[str, ...]) -> dict[str, list[str]]:
    """Columns and the values they may have; a column that is named twice has the values of both, as in charts."""
    if not filters:
        return {}
    from steptime.guide.view.notation import pairs_of

    columns: dict[str, list[str]] = {}
    for column, values in (pair for text in filters for pair in pairs_of(text)):
        columns.setdefault(column, []).extend(values)
    return columns

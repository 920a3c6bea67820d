"""`steptime export`: records as text for other tools."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from steptime.cli.list import selected
from steptime.cli.options import store_option
from steptime.errors import UnknownName, UsageError


@click.command("export")
@click.argument("output", metavar="[FILE|-]", default="-")
@click.option("--format", "form", default="csv", show_default=True, help="csv, json or psc.")
@click.option("--where", "-w", "filters", multiple=True, metavar="COLUMN=V,..", help="Only rows with one of these values.")
@store_option
def command(output: str, form: str, filters: tuple[str, ...], store_path: str | None) -> int:
    """Write the records to FILE, or to stdout.

    csv has all index columns; psc has the seven columns of PSC's Deep MNIST benchmark, one row per measured case.
    """
    from steptime.store.export import FORMATS

    if form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    text = FORMATS[form](selected(store_path, filters))
    if output == "-":
        sys.stdout.write(text)
        return 0
    try:
        Path(output).write_text(text)
    except OSError as problem:
        raise UsageError(f"cannot write {output}: {problem.strerror}") from None
    return 0

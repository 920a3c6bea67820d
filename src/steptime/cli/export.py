"""`steptime export`: write records as CSV or JSON for other tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from steptime.cli.list import selected
from steptime.cli.options import store_option
from steptime.core.errors import UnknownName, UsageError

PSC_FILES = "psc-files"


@click.command("export")
@click.argument("output", metavar="[FILE|-]", default="-")
@click.option("--format", "form", default="csv", show_default=True, help="csv, json, psc or psc-files.")
@click.option("--where", "-w", "filters", multiple=True, metavar="COLUMN=V,..", help="Only rows with one of these values.")
@store_option
def command(output: str, form: str, filters: tuple[str, ...], store_path: str | None) -> int:
    """Write the records to FILE, or to stdout.

    csv has all index columns; psc has the seven columns of PSC's Deep MNIST benchmark, one row per measured case; psc-files
    writes its result files YYYY-MM-DD-TYPE:COUNT:STAGED into the folder FILE.
    """
    from steptime.store.export import FORMATS

    if form == PSC_FILES:
        return _write_files(output, selected(store_path, filters))
    if form not in FORMATS:
        raise UnknownName("format", form, [*FORMATS, PSC_FILES])
    text = FORMATS[form](selected(store_path, filters))
    if output == "-":
        sys.stdout.write(text)
        return 0
    try:
        Path(output).write_text(text)
    except OSError as problem:
        raise UsageError(f"cannot write {output}: {problem.strerror}") from None
    return 0


def _write_files(output: str, rows: Sequence[dict[str, Any]]) -> int:
    from steptime.store.export import psc_files

    if output == "-":
        raise UsageError(f"--format {PSC_FILES} writes files: name a folder")
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in psc_files(rows).items():
            (folder / name).write_text(text)
    except OSError as problem:
        raise UsageError(f"cannot write to {output}: {problem.strerror}") from None
    return 0

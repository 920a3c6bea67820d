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

PSC, PSC_FILES = "psc", "psc-files"


@click.command("export")
@click.argument("output", metavar="[FILE|-]", default="-")
@click.option("--format", "form", default="csv", show_default=True, help="csv, json, psc or psc-files.")
@click.option("--where", "-w", "filters", multiple=True, metavar="COLUMN=V,..", help="Only rows with one of these values.")
@click.option("--contended", is_flag=True, help="psc, psc-files: also the contended tries, which other processes disturbed.")
@store_option
def command(output: str, form: str, filters: tuple[str, ...], contended: bool, store_path: str | None) -> int:
    """Write the records to FILE, or to stdout.

    csv has all index columns; psc has the seven columns of PSC's Deep MNIST benchmark, one row per measured case, and those
    that tell its rows apart (batch, seed, repeat, ...) where there are several; psc-files writes its result files
    YYYY-MM-DD-TYPE:COUNT:STAGED into the folder FILE.
    """
    from steptime.store.export import FORMATS, psc_text

    if form not in (*FORMATS, PSC, PSC_FILES):
        raise UnknownName("format", form, [*FORMATS, PSC, PSC_FILES])
    if contended and form in FORMATS:
        raise UsageError(f"--contended is for {PSC} and {PSC_FILES}; {form} has every record")
    rows = selected(store_path, filters)
    if form not in FORMATS and not contended:
        _name_contended(rows)
    if form == PSC_FILES:
        return _write_files(output, rows, contended)
    text = psc_text(rows, contended) if form == PSC else FORMATS[form](rows)
    if output == "-":
        sys.stdout.write(text)
        return 0
    try:
        Path(output).write_text(text)
    except OSError as problem:
        raise UsageError(f"cannot write {output}: {problem.strerror}") from None
    return 0


def _name_contended(rows: Sequence[dict[str, Any]]) -> None:
    from steptime.store.psc import only_contended

    if number := only_contended(rows):
        cases = "1 case has" if number == 1 else f"{number} cases have"
        print(f"steptime: {cases} contended tries only; --contended includes them", file=sys.stderr)


def _write_files(output: str, rows: Sequence[dict[str, Any]], contended: bool) -> int:
    from steptime.store.psc import psc_files

    if output == "-":
        raise UsageError(f"--format {PSC_FILES} writes files: name a folder")
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in psc_files(rows, contended).items():
            (folder / name).write_text(text)
    except OSError as problem:
        raise UsageError(f"cannot write to {output}: {problem.strerror}") from None
    return 0

"""`steptime import`: import results of other tools."""  # noqa: N999 - the verb's own name

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.core.errors import UsageError

if TYPE_CHECKING:
    from steptime.importing.run import EncodedOutcome, Report

SHOWN = 20
"""refused files, one line each; the rest are counted"""


@click.command("import")
@click.argument("paths", nargs=-1, metavar="PATH..", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print what would be imported; store nothing.")
@click.option("--reference", is_flag=True, help="Import the published figures that come with steptime.")
@click.option("--mapping", metavar="FILE", type=click.Path(path_type=Path), help="Read CSV or JSON by this mapping (TOML).")
@click.option("--make-mapping", is_flag=True, help="Print a first mapping for a CSV or JSON file, with its guesses.")
@click.option("--replace", is_flag=True, help="Replace records of an earlier import of the same file.")
@click.option("--formats", is_flag=True, help="List the known formats.")
@json_option
@store_option
def command(
    paths: tuple[Path, ...],
    dry_run: bool,
    reference: bool,
    mapping: Path | None,
    make_mapping: bool,
    replace: bool,
    formats: bool,
    as_json: bool,
    store_path: str | None,
) -> int:
    """Import results of other tools: files, or folders with everything in them.

    The format of a file is recognised by its content. A file is imported whole or not at all, and only once.
    """
    from steptime.importing.mapping import read_mapping
    from steptime.importing.reference import reference_file
    from steptime.importing.run import files_in, run

    if formats:
        return _print_formats(as_json)
    if make_mapping:
        return _print_mapping(paths)
    files = files_in([*([reference_file()] if reference else []), *paths])
    if not files:
        raise UsageError("nothing to import: give files or folders, or --reference")
    store = None if dry_run else open_store(store_path)
    if store:
        store.prepare()
    report = run(store, files, read_mapping(mapping) if mapping else None, replace=replace)
    if as_json:
        _print_json(report, dry_run)
    else:
        _print_text(report, dry_run)
    return 1 if report.refused else 0


def _print_mapping(paths: tuple[Path, ...]) -> int:
    from steptime.importing.guess_mapping import guess_mapping
    from steptime.importing.source_file import File, Refused

    if len(paths) != 1 or not paths[0].is_file():
        raise UsageError("--make-mapping takes one file")
    try:
        print(guess_mapping(File(paths[0])), end="")
    except (OSError, Refused) as problem:
        raise UsageError(f"{paths[0]}: {problem}") from None
    return 0


def _print_json(report: Report, dry_run: bool) -> None:
    """One line per file; with --dry-run its rows as well."""
    for file in report.files:
        line: dict[str, object] = {"file": str(file.path), "tool": file.tool, "records": [identity for identity, _ in file.lines]}
        line |= {"refused": not file.supplementary and bool(file.reason), "reason": file.reason, "line": file.line}
        print(json.dumps(line | ({"rows": file.rows} if dry_run else {})))
    for warning in report.warnings:
        print(json.dumps({"warning": warning}))


def _print_text(report: Report, dry_run: bool) -> None:
    from steptime.cli.printing import RESULT_HEADER, result_cells, table

    rows = [row for file in report.files for row in file.rows]
    if dry_run and rows:
        print(table(("origin", *RESULT_HEADER), [[row["origin"], *result_cells(row)] for row in rows]))
        print()
    counts = Counter({file.tool: 0 for file in report.files if file.lines})
    for file in report.files:
        counts[file.tool] += len(file.lines)
    tools = [[tool, str(_files_of(report, tool)), str(count)] for tool, count in sorted(counts.items()) if tool and count]
    if tools:
        print(table(("format", "files", "records"), tools))
    for file in report.refused[:SHOWN]:
        print(_complaint(file), file=sys.stderr)
    if len(report.refused) > SHOWN:
        print(f"and {len(report.refused) - SHOWN} more; --json lists them all", file=sys.stderr)
    for warning in report.warnings[:SHOWN]:
        print(f"look at this: {warning}", file=sys.stderr)
    if len(report.warnings) > SHOWN:
        print(f"and {len(report.warnings) - SHOWN} more such figures; --json lists them all", file=sys.stderr)
    print(_closing(report, dry_run))


def _files_of(report: Report, tool: str) -> int:
    return sum(1 for file in report.files if file.tool == tool and file.lines)


def _complaint(file: EncodedOutcome) -> str:
    place = f"{file.path}:{file.line}" if file.line else str(file.path)
    return f"{place}: {file.reason}"


def _closing(report: Report, dry_run: bool) -> str:
    supplementary = sum(1 for file in report.files if file.supplementary)
    parts = [f"{report.added} records {'would be imported' if dry_run else 'imported'}"]
    parts += [f"{report.present} were there already"] if report.present else []
    parts += [f"{report.replaced} of earlier imports replaced"] if report.replaced else []
    parts += [f"{len(report.refused)} of {len(report.files)} files refused"] if report.refused else []
    parts += [f"{supplementary} files read with others"] if supplementary else []
    return ", ".join(parts)


def _print_formats(as_json: bool) -> int:
    from steptime.cli.printing import table
    from steptime.importing.recognise import importer, importer_names

    formats = [(name, importer(name).TOOL, (importer(name).__doc__ or "").partition("\n")[0]) for name in importer_names()]
    if as_json:
        for name, tool, words in formats:
            print(json.dumps({"format": name, "tool": tool, "reads": words}))
    else:
        print(table(("format", "reads"), [[name, words] for name, _, words in formats]))
    return 0

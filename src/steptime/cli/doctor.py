"""`steptime doctor`: prove by a real step which backends work here."""

from __future__ import annotations

import json

import click

from steptime.cli.options import json_option


@click.command("doctor")
@click.argument("names", nargs=-1, metavar="[BACKEND..]")
@click.option("--python", default="", metavar="PATH", help="Examine this interpreter instead of the backend's own.")
@json_option
def command(names: tuple[str, ...], python: str, as_json: bool) -> int:
    """Take a training step in a process of its own on each BACKEND (default: all), and say what to do where it fails."""
    from steptime.backends.base import find
    from steptime.backends.base import names as known
    from steptime.cli.printing import table
    from steptime.sweep.examine import examine

    rows = []
    for name in names or known():
        find(name)
        finding = examine(name, python)
        rows.append(finding)
        if as_json:
            print(json.dumps(finding), flush=True)
    if not as_json:
        header = ("backend", "works", "version", "threads", "what was seen", "what to do")
        keys = ("backend", "works", "version", "threads", "seen", "remedy")
        print(table(header, [[_cell(row[key]) for key in keys] for row in rows]))
    return 0 if all(row["works"] for row in rows) else 1


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return "" if value is None else str(value)

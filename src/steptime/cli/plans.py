"""`steptime plans`: list the plans that come with steptime."""

from __future__ import annotations

import json

import click

from steptime.cli.options import json_option
from steptime.core.errors import UnknownName, UsageError


@click.command("plans")
@click.argument("verb", required=False, metavar="[show]")
@click.argument("name", required=False)
@json_option
def command(verb: str | None, name: str | None, as_json: bool) -> int:
    """List the plans that come with steptime; `steptime plans show NAME` prints one, to copy and change."""
    from steptime.plan.file import preset_description, preset_names, preset_text

    if verb not in (None, "show"):
        raise UnknownName("verb of plans", verb, ["show"])
    if verb and not name:
        raise UsageError(f"which plan? one of: {', '.join(preset_names())}")
    if name:
        text = preset_text(name)
        print(json.dumps({"name": name, "text": text}) if as_json else text, end="\n" if as_json else "")
        return 0
    rows = [{"name": known, "description": preset_description(known)} for known in preset_names()]
    _print(rows, as_json)
    return 0


def _print(rows: list[dict[str, str]], as_json: bool) -> None:
    from steptime.cli.printing import table

    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    print(table(("plan", "description"), [(row["name"], row["description"]) for row in rows]))
    print("\n`steptime run PLAN --dry-run` shows its cases, `steptime plans show PLAN` its file")

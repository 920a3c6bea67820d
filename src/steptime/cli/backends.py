"""`steptime backends`: the frameworks, and what they can do."""

from __future__ import annotations

import json

import click

from steptime.cli.options import json_option


@click.command("backends")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> int:
    """List the backends; with NAME, only that one."""
    from steptime.backends.base import find, names
    from steptime.cli.printing import table
    from steptime.environments.install import environment

    rows = []
    for backend in [find(name)] if name else [find(known) for known in names()]:
        env = environment(backend.environment_name) if backend.environment_name else None
        rows.append(
            {
                "backend": backend.name,
                "phases": list(backend.phases),
                "precisions": list(backend.precisions),
                "devices": list(backend.devices),
                "options": dict(backend.options),
                "installed": env.ready if env else True,
                "install": f"steptime setup {env.name}" if env else "",
            }
        )
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    header = ("backend", "phases", "precisions", "devices", "installed", "options")
    print(table(header, [[_cell(row, key) for key in header] for row in rows]))
    print("\n`steptime doctor` proves by a real step which of them work here")
    return 0


def _cell(row: dict[str, object], key: str) -> str:
    value = row[key]
    if key == "installed":
        return "yes" if value else f"no: {row['install']}"
    if isinstance(value, dict):
        return " ".join(f"{k}={v!r}" for k, v in value.items())
    return " ".join(value) if isinstance(value, list) else str(value)

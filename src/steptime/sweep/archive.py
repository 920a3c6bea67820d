"""Moves the records of a sweep to a store of their own under archived/, which every verb reads with --store."""

from __future__ import annotations

import shutil
from pathlib import Path

from steptime.core.errors import UnknownName, UsageError
from steptime.store.files import Store
from steptime.store.record_search import records_of_sweep
from steptime.sweep.live import running
from steptime.sweep.remote_status import jobs_of
from steptime.sweep.state import Sweep, folder_of


def archive(store: Store, sweep: Sweep) -> tuple[Path, int]:
    """Where its records are now, and how many. Each is moved by a rename: it is in one of the two places at any moment."""
    folder = folder_of(store, sweep)
    if running(folder):
        raise UsageError(f"sweep {sweep.id} is running; `steptime cancel {sweep.id}` first")
    if sweep.site:
        jobs = jobs_of(store, sweep, {record.id for record in records_of_sweep(store, sweep.id)})
        if jobs.active or "unknown" in jobs.states:
            raise UsageError(f"sweep {sweep.id} has jobs on {sweep.site}; `steptime cancel {sweep.id}` first")
    target = Store(store.root / "archived" / sweep.id)
    count = _move(store, target, sweep.id)
    target.root.joinpath("sweeps").mkdir(parents=True, exist_ok=True)
    shutil.move(folder, target.root / "sweeps" / sweep.id)
    return target.root, count


def restore(store: Store, name: str) -> int:
    """Brings an archived sweep back; how many records."""
    if name not in archived(store):
        raise UnknownName("archived sweep", name, archived(store))
    source = Store(store.root / "archived" / name)
    count = _move(source, store, name)
    store.root.joinpath("sweeps").mkdir(parents=True, exist_ok=True)
    shutil.move(source.root / "sweeps" / name, store.root / "sweeps" / name)
    shutil.rmtree(source.root)
    return count


def archived(store: Store) -> list[str]:
    return sorted(path.parent.name for path in store.root.glob("archived/*/records"))


def _move(source: Store, target: Store, sweep: str) -> int:
    mine = {record.id for record in records_of_sweep(source, sweep)}
    for path in source.paths():
        if path.stem in mine:
            place = target.records_folder / path.relative_to(source.records_folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
    target.records_folder.mkdir(parents=True, exist_ok=True)
    return len(mine)

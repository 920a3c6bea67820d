"""Where data are: sets that go by a name, and stores (scratch, local, dram, ...) that they are staged to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from steptime.core.errors import DataError, UnknownName, Unsupported
from steptime.core.machine.home import home

SYNTHETIC = "synthetic"
FETCHED = ("mnist",)
"""sets that `steptime data get` downloads"""
DRAM = Path("/dev/shm")


def data_root() -> Path:
    chosen = os.environ.get("STEPTIME_DATA")
    return Path(chosen).absolute() if chosen else home() / "data"


def is_path(name: str) -> bool:
    return "/" in name or name in (".", "..") or name.startswith("~")


def data_names() -> list[str]:
    """Names that stand for a folder of data."""
    root = data_root()
    there = [p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")] if root.is_dir() else []
    return sorted({SYNTHETIC, *FETCHED, *there})


def checked_data(name: str) -> str:
    """A name that is known, or a folder as a whole path."""
    if is_path(name):
        return os.path.abspath(os.path.expanduser(name))
    if name not in data_names():
        raise UnknownName("data", name, data_names())
    return name


def checked_store(name: str) -> str:
    return os.path.abspath(os.path.expanduser(name)) if is_path(name) else name


def folder_of(name: str) -> Path:
    """Of a data set."""
    folder = Path(name) if is_path(name) else data_root() / name
    if not folder.is_dir():
        remedy = (
            f"; run: steptime data get {name}   (or set STEPTIME_DATA to a folder with {name} in it)" if name in FETCHED else ""
        )
        raise DataError(f"no data in {folder}: no such folder{remedy}")
    return folder


def store_folder(store: str, environment: Mapping[str, str]) -> Path:
    """The directory that a store's name means here; computing centres define it by variables such as SCRATCH and LOCAL."""
    if is_path(store):
        folder, origin = Path(store), ""
    elif store == "dram" and "DRAM" not in environment:
        folder, origin = DRAM, "dram is "
    else:
        variable = store.upper().replace("-", "_")
        if not environment.get(variable):
            raise Unsupported(
                f"data store {store}: ${variable} is not set here; set it to a directory, or give a path as data store"
            )
        folder, origin = Path(environment[variable]), f"${variable} is "
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise Unsupported(f"data store {store}: {origin}{folder}, which is not a directory that can be written to")
    return folder

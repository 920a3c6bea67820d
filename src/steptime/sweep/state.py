"""A sweep on disk: its cases, and a folder for each. Nothing here needs a lock."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steptime.core.atomic import write_text
from steptime.core.errors import StoreError, UnknownName, UsageError
from steptime.core.schema import Case, case_key
from steptime.schedulers.site import Site
from steptime.store.files import Store, new_id

SITE = "site.json"


@dataclass(frozen=True)
class Sweep:
    id: str
    plan: str
    """a hash of the cases: the same command gives the same plan"""
    cases: list[Case]
    name: str = ""
    """of the plan, for people"""
    site: str = ""
    """where it runs; empty: on this machine"""


@dataclass(frozen=True)
class Heading:
    """A sweep without its cases, which may be 100,000."""

    id: str
    plan: str
    site: str = ""


def plan_hash(cases: Sequence[Case]) -> str:
    return hashlib.sha256("".join(case_key(case) for case in cases).encode()).hexdigest()[:12]


def folder_of(store: Store, sweep: Sweep) -> Path:
    return store.root / "sweeps" / sweep.id


def begin(store: Store, cases: Sequence[Case], name: str = "", site: Site | None = None) -> Sweep:
    sweep = Sweep(new_id(), plan_hash(cases), list(cases), name, site.name if site else "")
    folder = folder_of(store, sweep)
    try:
        folder.mkdir(parents=True)
        if site:  # as it is now: whoever resumes the sweep, wherever, uses the same site
            write_text(folder / SITE, msgspec.json.encode(site).decode())
        write_text(folder / "sweep.json", msgspec.json.encode(sweep).decode())
    except OSError as problem:
        raise StoreError(f"cannot write to {folder}: {problem.strerror}; choose another store with --store DIR") from None
    return sweep


def site_of_sweep(store: Store, sweep: Sweep) -> Site:
    path = folder_of(store, sweep) / SITE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Site)
    except (OSError, msgspec.DecodeError) as problem:
        raise StoreError(f"cannot read {path}, which says where sweep {sweep.id} runs: {problem}") from None


def latest(store: Store, cases: Sequence[Case], site: str = "") -> Sweep | None:
    """The newest sweep of the same plan on the same site."""
    wanted = plan_hash(cases)
    for path in sorted(store.root.glob("sweeps/*/sweep.json"), reverse=True):
        try:
            content = path.read_bytes()
            heading = msgspec.json.decode(content, type=Heading)
            if (heading.plan, heading.site) == (wanted, site):
                return msgspec.json.decode(content, type=Sweep)
        except (OSError, msgspec.DecodeError):
            continue
    return None


def sweeps(store: Store) -> list[Sweep]:
    """All of them, oldest first; an unreadable one is left out."""
    known = []
    for path in sorted(store.root.glob("sweeps/*/sweep.json")):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            known.append(msgspec.json.decode(path.read_bytes(), type=Sweep))
    return known


def find_sweep(store: Store, name: str = "") -> Sweep:
    """By id, by a unique part of one, or by the plan's name (its newest); without a name, the newest of all."""
    known = sweeps(store)
    if not known:
        raise UsageError(f"no sweeps in {store.root}; `steptime run` starts one")
    if not name:
        return known[-1]
    named = [s for s in known if s.id == name] or [s for s in known if s.name == name][-1:] or [s for s in known if name in s.id]
    if len(named) != 1:
        raise UnknownName("sweep", name, [s.id for s in known])
    return named[0]

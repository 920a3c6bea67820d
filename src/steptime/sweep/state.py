"""What a sweep is, on disk: its cases, a folder per case, and nothing that needs a lock."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steptime.atomic import write_text
from steptime.errors import StoreError
from steptime.schema import Case, case_key
from steptime.store.files import Store, new_id


@dataclass(frozen=True)
class Sweep:
    id: str
    plan: str
    """a hash of what is measured: the same command gives the same plan"""
    cases: list[Case]


@dataclass(frozen=True)
class Heading:
    """A sweep without its cases, which may be 100,000."""

    id: str
    plan: str


def plan_hash(cases: Sequence[Case]) -> str:
    return hashlib.sha256("".join(case_key(case) for case in cases).encode()).hexdigest()[:12]


def folder_of(store: Store, sweep: Sweep) -> Path:
    return store.root / "sweeps" / sweep.id


def job_folder(store: Store, sweep: Sweep, case: Case) -> Path:
    return folder_of(store, sweep) / f"{case.model}-{case.backend}-{case.phase}-{case_key(case)[:10]}"


def begin(store: Store, cases: Sequence[Case]) -> Sweep:
    sweep = Sweep(new_id(), plan_hash(cases), list(cases))
    folder = folder_of(store, sweep)
    try:
        folder.mkdir(parents=True)
        write_text(folder / "sweep.json", msgspec.json.encode(sweep).decode())
    except OSError as problem:
        raise StoreError(f"cannot write to {folder}: {problem.strerror}; choose another store with --store DIR") from None
    return sweep


def latest(store: Store, cases: Sequence[Case]) -> Sweep | None:
    """The newest sweep of the same plan."""
    wanted = plan_hash(cases)
    for path in sorted(store.root.glob("sweeps/*/sweep.json"), reverse=True):
        try:
            content = path.read_bytes()
            if msgspec.json.decode(content, type=Heading).plan == wanted:
                return msgspec.json.decode(content, type=Sweep)
        except (OSError, msgspec.DecodeError):
            continue
    return None

"""The truth: one JSON file per finished case under records/YYYY/MM/, written once, never changed, no locks."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from steptime.atomic import write_text
from steptime.errors import StoreError, UnknownName, UsageError
from steptime.schema import FAILURES, OK, SCHEMA_VERSION, Record, to_json

STALE_SECONDS = 3600.0
"""a temporary file this old was left by a writer that died"""


@dataclass(frozen=True)
class Damaged:
    path: Path
    reason: str


@dataclass(frozen=True)
class Store:
    root: Path

    @property
    def records_folder(self) -> Path:
        return self.root / "records"

    def prepare(self) -> None:
        """Proves that records can be written, before anything is measured."""
        try:
            self.records_folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.records_folder) as probe:
                probe.write(b"x" * 65536)
                probe.flush()
                os.fsync(probe.fileno())
        except OSError as problem:
            raise StoreError(
                f"cannot write records to {self.root}: {problem.strerror}; choose another with --store DIR"
            ) from None

    def put(self, record: Record) -> Path:
        """Stores a record; where the folder refuses, it goes to a rescue folder and StoreError says where."""
        path = self._path(record)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, to_json(record))
        except OSError as problem:
            kept = self._rescue(record)
            raise StoreError(f"cannot write {path}: {problem.strerror}; the record is kept in {kept}") from None
        return path

    def _rescue(self, record: Record) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="steptime-rescued-"))
        write_text(folder / f"{record.id}.json", to_json(record))
        return folder / f"{record.id}.json"

    def _path(self, record: Record) -> Path:
        return self.records_folder / record.started[:4] / record.started[5:7] / f"{record.id}.json"

    def paths(self) -> list[Path]:
        """All record files, oldest first."""
        return sorted(self.records_folder.glob("[0-9][0-9][0-9][0-9]/[0-9][0-9]/*.json"))

    def read(self) -> tuple[list[Record], list[Damaged]]:
        """All whole records; damaged files are put into quarantine with the reason beside them."""
        records, damaged = [], []
        decoder = msgspec.json.Decoder(Record)
        for path in self.paths():
            outcome = _decode(decoder, path)
            if isinstance(outcome, Record):
                records.append(outcome)
            elif outcome is not None:
                damaged.append(self._quarantine(outcome))
        return records, damaged

    def find(self, name: str) -> Record:
        """By id, or by a beginning or ending of one that is unique; `last` is the newest."""
        paths = self.paths()
        if name == "last" and paths:
            paths = paths[-1:]
        else:
            paths = [p for p in paths if p.stem == name] or [p for p in paths if p.stem.startswith(name) or p.stem.endswith(name)]
        if not paths:
            raise UnknownName("record", name, [p.stem for p in self.paths()[-5:]])
        if len(paths) > 1:
            raise UsageError(f"'{name}' could be any of {', '.join(p.stem for p in paths[:5])}; give more of the id")
        outcome = _decode(msgspec.json.Decoder(Record), paths[0])
        if isinstance(outcome, Record):
            return outcome
        raise StoreError(f"{paths[0]} is damaged: {outcome.reason if outcome else 'it is gone'}")

    def _quarantine(self, damaged: Damaged) -> Damaged:
        """Moved aside, never deleted; in a store that we may not write it stays where it is."""
        folder = self.root / "quarantine"
        try:
            folder.mkdir(exist_ok=True)
            target = folder / damaged.path.name
            target.with_suffix(".reason.txt").write_text(damaged.reason + "\n")
            damaged.path.replace(target)
        except OSError:
            return damaged
        return Damaged(target, damaged.reason)

    def collect_orphans(self) -> int:
        """Removes what writers that died left behind; how many."""
        count, now = 0, time.time()
        for path in self.records_folder.glob("*/*/.*.tmp"):
            if now - path.stat().st_mtime > STALE_SECONDS:
                path.unlink(missing_ok=True)
                count += 1
        return count


def _decode(decoder: msgspec.json.Decoder[Record], path: Path) -> Record | Damaged | None:
    """None if the file went away in between."""
    try:
        record = decoder.decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, OSError, UnicodeDecodeError) as problem:
        return Damaged(path, f"not a record: {problem}")
    if record.schema > SCHEMA_VERSION:
        return Damaged(path, f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})")
    if record.status != OK and record.status not in FAILURES:
        return Damaged(path, f"unknown status '{record.status}'")
    return record


def new_id() -> str:
    """Sorts by time; unique among any number of writers."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def records_in(store: Store, sweep: str) -> Iterator[Record]:
    records, _ = store.read()
    return (record for record in records if record.sweep == sweep)

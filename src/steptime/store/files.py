"""The truth: one JSON file per finished case under records/YYYY/MM/, written once, never changed, no locks.

What comes by the thousand (imports) lies beside them in batches, `*.jsonl`: one file, one fsync, one record to a line.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from steptime.core.atomic import write_bytes, write_text
from steptime.core.errors import StoreError, UnknownName, UsageError
from steptime.core.schema import FAILURES, SCHEMA_VERSION, Record, Status, to_json


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

    def put_all(self, records: Sequence[Record]) -> Path:
        """Stores many at once: all of them or none."""
        return self.put_lines([(record.id, msgspec.json.encode(record)) for record in records])

    def put_lines(self, lines: Sequence[tuple[str, bytes]]) -> Path:
        """As put_all, of ids and encoded records. The same records make the same file, whoever stores them."""
        name = hashlib.sha256("\n".join(identity for identity, _ in lines).encode()).hexdigest()[:16]
        path = self.records_folder / f"{datetime.now(UTC):%Y/%m}" / f"batch-{name}.jsonl"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, b"".join(content + b"\n" for _, content in lines))
        except OSError as problem:
            raise StoreError(f"cannot write {path}: {problem.strerror}; nothing of it was stored") from None
        return path

    def paths(self) -> list[Path]:
        """All files of records, single ones (.json) and batches (.jsonl), oldest first."""
        return [self.root / name for name in self.names()]

    def names(self) -> list[str]:
        """The same, relative to the store: all that is asked of the file system is what folders hold."""
        years = [year for year in _listed(self.records_folder) if re.fullmatch("[0-9]{4}", year)]
        months = [f"{year}/{m}" for year in years for m in _listed(self.records_folder / year) if re.fullmatch("[0-9]{2}", m)]
        return [
            f"records/{month}/{name}"
            for month in months
            for name in _listed(self.records_folder / month)
            if name.endswith((".json", ".jsonl"))
        ]

    def load(self, path: Path) -> tuple[list[Record], list[Damaged]]:
        """What one file holds. A damaged file, or a damaged line of a batch, goes into quarantine with its reason."""
        decoder = msgspec.json.Decoder(Record)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return [], []  # it went away in between
        except OSError as problem:
            return [], [Damaged(path, f"cannot be read: {problem.strerror}")]
        if path.suffix == ".json":
            whole = decode(decoder, content)
            return ([whole], []) if isinstance(whole, Record) else ([], [self._quarantine(Damaged(path, whole))])
        return self._load_batch(decoder, path, content.splitlines(keepends=True))

    def _load_batch(
        self, decoder: msgspec.json.Decoder[Record], path: Path, lines: list[bytes]
    ) -> tuple[list[Record], list[Damaged]]:
        outcomes = [decode(decoder, line) for line in lines]
        records = [outcome for outcome in outcomes if isinstance(outcome, Record)]
        broken = [(number, outcome) for number, outcome in enumerate(outcomes) if isinstance(outcome, str)]
        if not broken:
            return records, []
        if not records:
            return [], [self._quarantine(Damaged(path, broken[0][1]))]
        return records, self._quarantine_lines(path, lines, broken)

    def read(self) -> tuple[list[Record], list[Damaged]]:
        """All whole records, each id once; what is damaged is put into quarantine with the reason beside it."""
        by_id: dict[str, Record] = {}
        damaged: list[Damaged] = []
        for path in self.paths():
            records, broken = self.load(path)
            damaged += broken
            for record in records:
                by_id.setdefault(record.id, record)
        return list(by_id.values()), damaged

    def ids(self) -> Iterator[tuple[str, Path]]:
        """Every record's id and its file, without decoding the records."""
        decoder = msgspec.json.Decoder(_Identity)
        for path in self.paths():
            if path.suffix == ".json":
                yield path.stem, path
            else:
                yield from ((identity, path) for identity in _batch_ids(decoder, path))

    def batch_lines(self) -> Iterator[bytes]:
        """The records of all batches, as they are encoded."""
        for path in self.paths():
            if path.suffix == ".jsonl":
                yield from _lines(path)

    def remove_from_batches(self, ids: Set[str]) -> None:
        """Takes records out of their batches. A batch that holds nothing more goes away."""
        decoder = msgspec.json.Decoder(_Identity)
        for path in self.paths():
            if path.suffix != ".jsonl" or ids.isdisjoint(_batch_ids(decoder, path)):
                continue
            kept = [line + b"\n" for line in _lines(path) if _batch_id(decoder, line) not in ids]
            try:
                if kept:
                    write_bytes(path, b"".join(kept))
                else:
                    path.unlink()
            except OSError as problem:
                raise StoreError(f"cannot write {path}: {problem.strerror}; its records are as they were") from None

    def get(self, record_id: str) -> Record | None:
        """By its whole id, without looking at any other."""
        for path in self.records_folder.glob(f"[0-9][0-9][0-9][0-9]/[0-9][0-9]/{record_id}.json"):
            records, _ = self.load(path)
            return records[0] if records else None
        return None

    def find(self, name: str) -> Record:
        """By id, or by a beginning or ending of one that is unique; `last` is the newest that was measured here."""
        known = dict(self.ids())
        single = [identity for identity, path in known.items() if path.suffix == ".json"]
        if name == "last" and known:
            chosen = (single or list(known))[-1:]
        else:
            chosen = [name] if name in known else [i for i in known if i.startswith(name) or i.endswith(name)]
        if not chosen:
            raise UnknownName("record", name, list(known)[-5:])
        if len(chosen) > 1:
            raise UsageError(f"'{name}' could be any of {', '.join(chosen[:5])}; give more of the id")
        path = known[chosen[0]]
        records, damaged = self.load(path)
        for record in records:
            if record.id == chosen[0] or path.suffix == ".json":
                return record
        raise StoreError(f"{path} is damaged: {damaged[0].reason if damaged else 'it is gone'}")

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

    def _quarantine_lines(self, path: Path, lines: list[bytes], broken: list[tuple[int, str]]) -> list[Damaged]:
        """First copied aside, then the batch is replaced by its whole lines."""
        folder, moved = self.root / "quarantine", []
        try:
            folder.mkdir(exist_ok=True)
            for number, reason in broken:
                target = folder / f"{path.stem}-line{number + 1}.json"
                target.with_suffix(".reason.txt").write_text(reason + "\n")
                target.write_bytes(lines[number])
                moved.append(Damaged(target, f"line {number + 1} of {path.name}: {reason}"))
            gone = {number for number, _ in broken}
            write_bytes(path, b"".join(line for number, line in enumerate(lines) if number not in gone))
        except OSError:
            return [Damaged(path, f"line {number + 1}: {reason}") for number, reason in broken]
        return moved


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


class _Identity(msgspec.Struct):
    id: str


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except OSError:
        return []


def _batch_ids(decoder: msgspec.json.Decoder[_Identity], path: Path) -> Iterator[str]:
    return (identity for line in _lines(path) if (identity := _batch_id(decoder, line)))


def _batch_id(decoder: msgspec.json.Decoder[_Identity], line: bytes) -> str:
    """Empty where the line is damaged; `load` says what is wrong with it."""
    try:
        return decoder.decode(line).id
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def decode(decoder: msgspec.json.Decoder[Record], content: bytes) -> Record | str:
    """The record, or what is wrong with it."""
    try:
        record = decoder.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return f"not a record: {problem}"
    if record.schema > SCHEMA_VERSION:
        return f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})"
    if record.status != Status.OK and record.status not in FAILURES:
        return f"unknown status '{record.status}'"
    return record


def new_id() -> str:
    """Sorts by time; unique among any number of writers."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"

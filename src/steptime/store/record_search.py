"""Whole records, of a sweep, like some cases, or where the index says, found without decoding the others.

The index says where records are that it knows; files that it does not list are looked into one by one. So a record counts from
the moment its file has its name, whoever wrote it (this process, a worker's last act on a cluster, an upload) and however
recently: which files are new is decided by their names, not by time stamps, whose resolution is limited. A record file is never
changed once it has its name, with one exception, damaged lines that are taken out of a batch; and files may be archived. Then
a record is no longer where the index says, which is noticed when it is read, and the index is brought up to date; if that
does not help, every file is looked into.

Nothing is written but the index, which is derived: a process that dies at any moment leaves the record files as they are.
A few records are read sooner than a database is started: a small store, and one that has no index and cannot be written, is
read file by file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from steptime.core.errors import StoreError
from steptime.core.schema import Case, Record
from steptime.store.files import Store, decode

if TYPE_CHECKING:
    from steptime.store.parquet_index import ParquetIndex

ENOUGH_ROWS = 3000
ENOUGH_BYTES = 10_000_000
"""of record files, from which on an index is made for the next time"""
ATTEMPTS = 3
"""how often records may move while they are read"""
RUNS_OF_EACH = 8
"""newest runs of a configuration that tell how long it takes"""
Place = tuple[str, int]
"""a file's name relative to the store, and the byte at which a record begins in it"""


def records_of_sweep(store: Store, sweep: str) -> list[Record]:
    return records_of_sweeps(store, [sweep])[sweep]


def records_of_sweeps(store: Store, sweeps: Sequence[str]) -> dict[str, list[Record]]:
    """For each sweep its records, each id once, in the order of their files, oldest first."""
    by_sweep: dict[str, list[Record]] = {sweep: [] for sweep in sweeps}
    condition = "sweep IN (SELECT unnest($sweeps))"
    for record in _search(store, condition, {"sweeps": sweeps}, lambda brief: brief.sweep in by_sweep) if sweeps else []:
        by_sweep[record.sweep].append(record)
    return by_sweep


def records_like(store: Store, cases: Iterable[Case], host: str) -> list[Record]:
    """Of the same models, backends, phases and devices, measured on that host, oldest first. Of runs of one configuration the
    index gives the newest."""
    kinds = {(case.model, case.backend, case.phase, case.device) for case in cases}
    condition = f"""server = $host
        AND concat_ws(chr(31), split_part(model, '(', 1), backend, phase, device_asked) IN (SELECT unnest($kinds))
        QUALIFY row_number() OVER (PARTITION BY config, status ORDER BY file DESC, byte_offset DESC) <= {RUNS_OF_EACH}"""

    def is_like(brief: _Brief) -> bool:
        case, machine = brief.case, brief.machine
        return machine is not None and machine.host == host and (case.model, case.backend, case.phase, case.device) in kinds

    return _search(store, condition, {"host": host, "kinds": [chr(31).join(kind) for kind in kinds]}, is_like)


def _search(store: Store, condition: str, parameters: dict[str, Any], wanted: Callable[[_Brief], bool]) -> list[Record]:
    index, others = _index(store)
    placed = _indexed(store, index, condition, parameters) if index else {}
    if placed is None:
        placed, others = {}, store.names()
    placed.update(_scanned(store, others, wanted))
    by_id: dict[str, Record] = {}
    for _, record in sorted(placed.items(), key=lambda item: item[0]):
        by_id.setdefault(record.id, record)
    return list(by_id.values())


def _index(store: Store) -> tuple[ParquetIndex | None, list[str]]:
    """The index as it is, brought up to date if it lacks much, and the files that it does not have; none, and all files, where
    reading them is faster."""
    writable = os.access(store.root, os.W_OK)
    if manifest_rows(store) < ENOUGH_ROWS and not (writable and holds_much(store, store.names())):
        return None, store.names()
    from steptime.store.parquet_index import ParquetIndex

    index = ParquetIndex(store)
    index.open()
    others = _not_in(store, index)
    if writable and holds_much(store, others):
        index.refresh()
        others = _not_in(store, index)
    return (index if index.manifest.rollup else None), others


def _not_in(store: Store, index: ParquetIndex) -> list[str]:
    known = index.file_names()
    return [name for name in store.names() if name not in known]


def _indexed(store: Store, index: ParquetIndex, condition: str, parameters: dict[str, Any]) -> dict[Place, Record] | None:
    """None where records keep moving while they are read."""
    query = f"SELECT id, file, byte_offset FROM rows WHERE {condition}"
    for _ in range(ATTEMPTS):
        try:
            rows = ask(index, query, parameters)
            return {(file, offset): read_at(store, identity, file, offset) for identity, file, offset in rows}
        except StoreError:
            index.refresh()
    return None


class _BriefCase(msgspec.Struct):
    model: str = ""
    backend: str = ""
    phase: str = ""
    device: str = ""


class _BriefMachine(msgspec.Struct):
    host: str = ""


class _Brief(msgspec.Struct):
    """As much of a record as says whether it counts."""

    sweep: str = ""
    case: _BriefCase = msgspec.field(default_factory=_BriefCase)
    machine: _BriefMachine | None = None


def _scanned(store: Store, names: Iterable[str], wanted: Callable[[_Brief], bool]) -> Iterator[tuple[Place, Record]]:
    """Damaged files hold none; whoever reads all records puts them into quarantine."""
    brief, whole = msgspec.json.Decoder(_Brief), msgspec.json.Decoder(Record)
    for name in names:
        for offset, content in _contents(store.root / name):
            try:
                if not wanted(brief.decode(content)):
                    continue
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            record = decode(whole, content)
            if isinstance(record, Record):
                yield (name, offset), record


def _contents(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        content = path.read_bytes()
    except OSError:
        return
    if path.suffix == ".json":
        yield 0, content
        return
    offset = 0
    for line in content.splitlines(keepends=True):
        yield offset, line
        offset += len(line)


class _Part(msgspec.Struct):
    rows: int = 0


class _Manifest(msgspec.Struct):
    """As much of the index's manifest as tells its size, without starting a database."""

    segments: list[_Part] = []
    format: int = 0
    rollup: str = ""


def manifest_of(store: Store) -> _Manifest:
    try:
        return msgspec.json.decode((store.root / "index" / "manifest.json").read_bytes(), type=_Manifest)
    except (OSError, msgspec.DecodeError):
        return _Manifest()


def manifest_rows(store: Store) -> int:
    return sum(part.rows for part in manifest_of(store).segments)


def holds_much(store: Store, names: Iterable[str]) -> bool:
    """Whether it takes longer to read these record files than to ask an index."""
    total = 0
    for name in names:
        try:
            total += os.stat(store.root / name).st_size
        except OSError:
            continue
        if total >= ENOUGH_BYTES:
            return True
    return False


def read_at(store: Store, identity: str, file: str, byte_offset: int) -> Record:
    """A record from where the index says it is."""
    path = store.root / file
    try:
        with open(path, "rb") as opened:
            opened.seek(byte_offset)
            content = opened.readline() if path.suffix == ".jsonl" else opened.read()
        whole = msgspec.json.decode(content, type=Record)
    except OSError as problem:
        raise StoreError(f"the file of run {identity} cannot be read: {problem.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        whole = None
    if whole is None or whole.id != identity:
        raise StoreError(f"run {identity} is no longer where it was in {file}; ask again")
    return whole


def ask(index: ParquetIndex, query: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    from steptime.store import tables

    connection = tables.connect()
    connection.execute(f"CREATE TEMP VIEW rows AS SELECT * FROM {tables.files(index.paths())}")
    return connection.execute(query, parameters or {}).fetchall()

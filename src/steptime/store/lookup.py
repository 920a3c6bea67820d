"""What verbs ask of a store, answered by its index where that is faster than reading every record file; the same answers.

A few records are read sooner than a database is started. From some thousands on the index answers, and is made if there is
none. Rows come in the order of the record files, oldest first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from steptime.core.errors import StoreError, UnknownName, UsageError
from steptime.core.schema import OK, Record
from steptime.store.columns import COLUMNS, CONFIGURING, EXACT, LABELS, MEASURES, NAMES, Row, row_of
from steptime.store.files import Damaged, Store

if TYPE_CHECKING:
    from steptime.store.parquet_index import ParquetIndex

ENOUGH_ROWS = 3000
ENOUGH_BYTES = 10_000_000
"""of record files, from which on an index is made for the next time"""


@dataclass(frozen=True)
class Rows:
    """Rows of a store. Damaged files are named, not counted."""

    rows: Sequence[Row]
    damaged: Sequence[Damaged]

    def where(self, wanted: Mapping[str, Sequence[str]]) -> list[Row]:
        """Rows whose column is one of the wanted values, for every column asked for."""
        check_columns(wanted)
        return [row for row in self.rows if all(str(row[c]) in values for c, values in wanted.items())]


def check_columns(names: Mapping[str, object]) -> None:
    for name in names:
        if name not in COLUMNS:
            raise UnknownName("column", name, NAMES)


def read_rows(store: Store) -> Rows:
    records, damaged = store.read()
    return Rows([row_of(record) for record in records], damaged)


def rows(store: Store, wanted: Mapping[str, Sequence[str]], last: int = 0) -> Rows:
    """Rows with one of the wanted values in each column asked for; with `last`, only that many of the newest."""
    check_columns(wanted)
    index = _indexed(store)
    if index is None:
        every = read_rows(store)
        return Rows(every.where(wanted)[-last if last > 0 else 0 :], every.damaged)
    exact = {column: values for column, values in wanted.items() if column in EXACT}
    conditions = [f"coalesce({column}::VARCHAR, 'None') IN (SELECT unnest(${column}))" for column in exact]
    all_exact = len(exact) == len(wanted)
    newest = f"DESC LIMIT {last}" if last > 0 and all_exact else ""
    order = f"ORDER BY file {newest.partition(' ')[0]}, byte_offset {newest}"
    query = f"SELECT {', '.join(NAMES)} FROM rows WHERE {' AND '.join(['true', *conditions])} {order}"
    matching = _rows(ask(index, query, {column: list(values) for column, values in exact.items()}))
    if newest:
        matching.reverse()
    kept = matching if all_exact else Rows(matching, ()).where(wanted)
    return Rows(kept[-last if last > 0 else 0 :], index.damaged)


def _rows(tuples: list[tuple[Any, ...]]) -> list[Row]:
    labels = NAMES.index(LABELS)
    known: dict[str, dict[str, str]] = {}
    dicts = []
    for values in tuples:
        row = dict(zip(NAMES, values, strict=True))
        text = values[labels]
        if text not in known:
            known[text] = json.loads(text)
        row[LABELS] = known[text]
        dicts.append(row)
    return dicts


def find(store: Store, name: str) -> Record:
    """As Store.find: by id, or by a beginning or ending of one that is unique, or the `last`."""
    index = _indexed(store)
    if index is None:
        return store.find(name)
    if name == "last":
        single = "ORDER BY file LIKE '%.jsonl', file DESC, byte_offset DESC LIMIT 1"
        matches = ask(index, f"SELECT id, file, byte_offset FROM rows {single}")
    else:
        matches = ask(index, "SELECT id, file, byte_offset FROM rows WHERE id = $name LIMIT 1", {"name": name})
    if not matches:
        part = "starts_with(id, $name) OR ends_with(id, $name)"
        matches = ask(
            index, f"SELECT id, file, byte_offset FROM rows WHERE {part} ORDER BY file, byte_offset LIMIT 6", {"name": name}
        )
    if not matches:
        newest = ask(index, "SELECT id FROM rows ORDER BY file DESC, byte_offset DESC LIMIT 5")
        raise UnknownName("record", name, [identity for (identity,) in newest])
    if len(matches) > 1:
        raise UsageError(f"'{name}' could be any of {', '.join(identity for identity, _, _ in matches[:5])}; give more of the id")
    return read_at(store, *matches[0])


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


def _indexed(store: Store) -> ParquetIndex | None:
    """The index, up to date; None where reading the files is faster, or an index could not be kept."""
    if not os.access(store.root, os.W_OK):
        return None
    known = manifest_rows(store)
    if known < ENOUGH_ROWS and (known or not holds_much(store, store.names())):
        return None
    from steptime.store.parquet_index import ParquetIndex

    index = ParquetIndex(store)
    index.refresh()
    return index


def rows_at_hand(store: Store) -> list[Row]:
    """What can be had without bringing an index up to date: the rows of a small store, or the medians of each configuration
    that went well from the roll-up of a large one."""
    from steptime.store.parquet_index import FORMAT

    manifest = _manifest(store)
    if not manifest.rollup:
        return [] if holds_much(store, store.names()) else list(read_rows(store).rows)
    if manifest.format != FORMAT:
        return []
    from steptime.store import tables

    source = tables.files([str(store.root / "index" / f"{manifest.rollup}.rollup.parquet")])
    medians = ", ".join(f"{name}_median AS {name}" for name in MEASURES)
    query = f"SELECT {', '.join(CONFIGURING)}, {medians} FROM {source} WHERE status = '{OK}'"
    answer = tables.connect().execute(query)
    names = [about[0] for about in answer.description or ()]
    return [dict(zip(names, values, strict=True)) for values in answer.fetchall()]


class _Part(msgspec.Struct):
    rows: int = 0


class _Manifest(msgspec.Struct):
    """As much of the index's manifest as tells its size, without starting a database."""

    segments: list[_Part] = []
    format: int = 0
    rollup: str = ""


def _manifest(store: Store) -> _Manifest:
    try:
        return msgspec.json.decode((store.root / "index" / "manifest.json").read_bytes(), type=_Manifest)
    except (OSError, msgspec.DecodeError):
        return _Manifest()


def manifest_rows(store: Store) -> int:
    return sum(part.rows for part in _manifest(store).segments)


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


def ask(index: ParquetIndex, query: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    from steptime.store import tables

    connection = tables.connect()
    connection.execute(f"CREATE TEMP VIEW rows AS SELECT * FROM {tables.files(index.paths())}")
    return connection.execute(query, parameters or {}).fetchall()

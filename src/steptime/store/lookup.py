"""The rows of a store, and one record by its name: from its index where that is faster than reading every record file.

From some thousands of records on the index answers, the same as the files would, and is made if there is none. Rows come in
the order of the record files, oldest first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steptime.core.errors import UnknownName, UsageError
from steptime.core.schema import Record, Status
from steptime.store.columns import COLUMNS, CONFIGURING, EXACT, LABELS, MEASURES, NAMES, Row, row_of
from steptime.store.files import Damaged, Store
from steptime.store.record_search import ENOUGH_ROWS, ask, holds_much, manifest_of, manifest_rows, read_at

if TYPE_CHECKING:
    from steptime.store.parquet_index import ParquetIndex


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

    manifest = manifest_of(store)
    if not manifest.rollup:
        return [] if holds_much(store, store.names()) else list(read_rows(store).rows)
    if manifest.format != FORMAT:
        return []
    from steptime.store import tables

    source = tables.files([str(store.root / "index" / f"{manifest.rollup}.rollup.parquet")])
    medians = ", ".join(f"{name}_median AS {name}" for name in MEASURES)
    query = f"SELECT {', '.join(CONFIGURING)}, {medians} FROM {source} WHERE status = '{Status.OK}'"
    answer = tables.connect().execute(query)
    names = [about[0] for about in answer.description or ()]
    return [dict(zip(names, values, strict=True)) for values in answer.fetchall()]

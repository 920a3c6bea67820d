"""The index at one moment, in an in-memory database. Never changed: who asks during a refresh gets the old answers, whole."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steptime.store import rollup, tables
from steptime.store.columns import CONFIGURING, LABELS, NAMES, Row
from steptime.store.parquet_index import ParquetIndex

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Bits:
    """Where the values of a dimension are: in which word, from which bit on, how many."""

    word: int
    first: int
    count: int

    def values(self, words: Mapping[int, int]) -> int:
        """How many of them are set."""
        return (words[self.word] >> self.first & (1 << self.count) - 1).bit_count()


@dataclass
class _Rollup:
    """The table `rollup`, loaded by the first query that needs it: a comparison of a few runs does not."""

    connection: duckdb.DuckDBPyConnection
    source: str
    _bits: dict[str, Bits] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self) -> dict[str, Bits]:
        with self._lock:
            if self._bits is None:
                self._bits = _load(self.connection, self.source)
            return self._bits


@dataclass(frozen=True)
class Snapshot:
    """Tables: `rows` as stored, `runs` as the guide sees them, `rollup` in memory.

    Beside the dimensions the rollup has columns `word_0`, `word_1`, ..., in which each known value of a dimension has a bit:
    the number of different values in a group is then a count of bits, which costs a tenth of counting texts.
    """

    connection: duckdb.DuckDBPyConnection
    version: str
    rows: int
    _rollup: _Rollup

    @property
    def bits(self) -> dict[str, Bits]:
        """Of the dimensions that have few enough values."""
        return self._rollup.load()

    def is_silent(self, name: str) -> bool:
        """Whether no run says a value of the dimension."""
        return name in self.bits and self.bits[name].count == 0

    @staticmethod
    def of(index: ParquetIndex) -> Snapshot:
        connection = tables.database()
        connection.execute(f"CREATE VIEW rows AS SELECT * FROM {tables.files(index.paths())}")
        connection.execute(f"CREATE VIEW runs AS {rollup.runs('rows')}")
        loaded_on_use = _Rollup(connection, tables.files([index.rollup_path]))
        return Snapshot(connection, index.manifest.rollup, index.manifest.rows, loaded_on_use)

    def load_rollup(self) -> None:
        self._rollup.load()

    def ask(self, query: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Rows of a query; values come only as parameters. Safe from any thread."""
        if "rollup" in query:
            self.load_rollup()
        return self.connection.cursor().execute(query, parameters or {}).fetchall()

    def index_rows(self, query: str, parameters: dict[str, Any] | None = None) -> list[Row]:
        """Rows of a query on `rows` as `row_of` makes them."""
        import json

        columns = ", ".join(NAMES)
        tuples = self.ask(f"SELECT {columns} FROM {query}", parameters)
        labels = NAMES.index(LABELS)
        return [dict(zip(NAMES, (*r[:labels], json.loads(r[labels]), *r[labels + 1 :]), strict=True)) for r in tuples]


WORD_BITS = 63


def _load(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, Bits]:
    names = (*CONFIGURING, "data_type")
    lists = ", ".join(f"list_sort(list(DISTINCT {rollup.text(d)}) FILTER ({rollup.text(d)} <> '')) AS {d}" for d in names)
    connection.execute(f"CREATE TABLE known AS SELECT {lists} FROM {source}")
    counts = connection.execute(f"SELECT {', '.join(f'coalesce(len({d}), 0)' for d in names)} FROM known").fetchall()[0]
    bits = _packed({d: count for d, count in zip(names, counts, strict=True) if count <= WORD_BITS})
    words: dict[int, list[str]] = {}
    for name, place in bits.items():
        position = f"list_position(known.{name}, {rollup.text(f'r.{name}')})"
        bit = f"coalesce(1::UBIGINT << ({position} + {place.first - 1}), 0)"
        words.setdefault(place.word, []).append(bit)
    columns = "".join(f", {' | '.join(parts)} AS word_{word}" for word, parts in words.items())
    connection.execute(f"CREATE TABLE rollup AS SELECT r.*{columns} FROM {source} r, known")
    return bits


def _packed(counts: dict[str, int]) -> dict[str, Bits]:
    """The widest first, each into the first word that has room."""
    used: list[int] = []
    bits = {}
    for name in sorted(counts, key=lambda d: -counts[d]):
        word = next((w for w, taken in enumerate(used) if taken + counts[name] <= WORD_BITS), len(used))
        used += [0] if word == len(used) else []
        bits[name] = Bits(word, used[word], counts[name])
        used[word] += counts[name]
    return bits

"""The database side of the index: what a segment's columns are, and how rows get into one. SQL here has no text from outside."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.store import columns
from steptime.store.columns import CONFIGURING, FIGURES, LABELS, RUN_TEXTS, Column, Row

if TYPE_CHECKING:
    import duckdb
    import numpy as np

    from steptime.store.flatten import Flattener

SEPARATOR = "chr(31)"
CONFIGURATION = f"md5(concat_ws({SEPARATOR}, {', '.join(f'coalesce({d}::VARCHAR, {chr(39) * 2})' for d in CONFIGURING)}, labels))"
"""the same for runs of the same thing; everything that says what was run, labels included"""
DATA_TYPE = "CASE WHEN coalesce(data_store, '') = '' THEN coalesce(data, '') ELSE concat(data, ' (', data_store, ')') END"
STORED_CONFIGURATION: tuple[Column, ...] = tuple(c for c in columns.CONFIGURATION if c.name != LABELS)
PARQUET = "(FORMAT parquet, COMPRESSION zstd)"


def database() -> duckdb.DuckDBPyConnection:
    """In memory, by itself: it reads no settings, loads nothing and never reaches for the network."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET autoinstall_known_extensions=false")
    connection.execute("SET autoload_known_extensions=false")
    connection.execute("SET preserve_insertion_order=false")
    return connection


_shared = functools.cache(database)


def connect() -> duckdb.DuckDBPyConnection:
    """To a database that a process makes once, which takes longer than most questions; only what is temporary is one's own."""
    return _shared().cursor()


def literal(path: str | Path) -> str:
    """A file name for COPY, which takes no parameter."""
    return "'" + str(path).replace("'", "''") + "'"


def files(paths: Sequence[str]) -> str:
    """A table made of Parquet files."""
    return f"read_parquet([{', '.join(map(literal, paths))}], union_by_name=true)"


def write(connection: duckdb.DuckDBPyConnection, rows: Flattener, path: Path) -> int:
    """The rows as a segment; how many."""
    connection.register("new_rows", rows.arrays())
    connection.register("new_dimensions", _dimension_arrays(rows.dimensions))
    texts = ", ".join(f"{_text(c)} AS {c.name}" for c in RUN_TEXTS)
    figures = ", ".join(
        f"CASE WHEN isnan({f.name}) THEN NULL ELSE TRY_CAST({f.name} AS {f.sql}) END AS {f.name}" for f in FIGURES
    )
    configuration = ", ".join(f"TRY_CAST({c.name} AS {c.sql}) AS {c.name}" for c in STORED_CONFIGURATION)
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE what AS
        WITH d AS (SELECT code AS d_code, labels::VARCHAR AS labels, shown::VARCHAR AS shown, {configuration} FROM new_dimensions)
        SELECT * EXCLUDE (labels, shown), shown AS labels FROM (SELECT *, {CONFIGURATION} AS config FROM d)
        """
    )
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE fresh AS
        SELECT code::INTEGER AS code, file::VARCHAR AS file, byte_offset::BIGINT AS byte_offset, {texts}, {figures} FROM new_rows
        """
    )
    connection.unregister("new_rows")
    connection.unregister("new_dimensions")
    count: int = connection.execute("SELECT count(*) FROM fresh").fetchall()[0][0]
    copy(connection, "SELECT * EXCLUDE (code, d_code) FROM fresh JOIN what ON code = d_code ORDER BY started, id", path)
    connection.execute("DROP TABLE fresh")
    connection.execute("DROP TABLE what")
    return count


def repeats(connection: duckdb.DuckDBPyConnection, new: Sequence[str], earlier: Sequence[str]) -> bool:
    """Whether an id of the new segments is in another of them or in an earlier one."""
    ids = f"SELECT id FROM {files(new)}"
    count = "SELECT count(*) - count(DISTINCT hash(id))"  # of numbers, which need less memory; at worst one looks closer
    if len(new) > 1 and connection.execute(f"{count} FROM ({ids})").fetchall()[0][0]:
        return True
    # the new ids are the side that a hash table is made of, and their range lets most of the earlier ones be skipped
    known = f"SELECT 1 FROM {files(earlier)} WHERE id IN ({ids}) LIMIT 1" if earlier else "SELECT 1 WHERE false"
    return bool(connection.execute(known).fetchall())


def once(connection: duckdb.DuckDBPyConnection, source: Path, earlier: Sequence[str], path: Path) -> tuple[int, set[str]]:
    """A segment without the ids that earlier ones have. How many rows are left, and the files that lost some."""
    table, known = files([str(source)]), f"(SELECT id FROM {files(earlier)})"
    lost = connection.execute(f"SELECT DISTINCT file FROM {table} WHERE id IN {known}").fetchall()
    copy(connection, f"SELECT * FROM {table} WHERE id NOT IN {known} ORDER BY started, id", path)
    rows: int = connection.execute(f"SELECT count(*) FROM {files([str(path)])}").fetchall()[0][0]
    return rows, {file for (file,) in lost}


def without(connection: duckdb.DuckDBPyConnection, source: Path, gone: Collection[str], path: Path) -> int:
    """A segment without the rows of files that are gone, whose configurations are added to `removed`. How many rows are left."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS removed (config VARCHAR)")
    table, names = files([str(source)]), {"gone": sorted(gone)}
    connection.execute(f"INSERT INTO removed SELECT DISTINCT config FROM {table} WHERE list_contains($gone, file)", names)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE kept AS SELECT * FROM {table} WHERE NOT list_contains($gone, file)", names)
    rows: int = connection.execute("SELECT count(*) FROM kept").fetchall()[0][0]
    if rows:
        copy(connection, "SELECT * FROM kept ORDER BY started, id", path)
    connection.execute("DROP TABLE kept")
    return rows


def merge(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], path: Path) -> None:
    copy(connection, f"SELECT * FROM {files(paths)} ORDER BY started, id", path)


def copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        connection.execute(f"COPY ({query}) TO {literal(temporary)} {PARQUET}")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _text(column: Column) -> str:
    return f"{column.name}::VARCHAR" if column.blank else f"nullif({column.name}::VARCHAR, '')"


def _dimension_arrays(rows: Sequence[Row]) -> dict[str, np.ndarray[Any, Any]]:
    """As text, so that a column without any value has a type too."""
    import numpy as np

    arrays: dict[str, np.ndarray[Any, Any]] = {"code": np.arange(len(rows))}
    for column in STORED_CONFIGURATION:
        values = (row[column.name] for row in rows)
        arrays[column.name] = np.array([None if value is None else str(value) for value in values], dtype=object)
    arrays["shown"] = np.array([json.dumps(row[LABELS]) for row in rows], dtype=object)
    arrays["labels"] = np.array([json.dumps(row[LABELS], sort_keys=True) for row in rows], dtype=object)
    return arrays

"""The database side of the index: what a segment's columns are, and how rows get into one. SQL here has no text from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steptime.store.flatten import DIMENSIONS, FIGURES, TEXTS, Columns

if TYPE_CHECKING:
    import duckdb

NUMBERS = ("devices_per_node", "nodes", "replicas", "replica_batch", "effective_batch", "threads")
SEPARATOR = "chr(31)"
CONFIGURATION = f"md5(concat_ws({SEPARATOR}, {', '.join(f'coalesce({d}::VARCHAR, {chr(39) * 2})' for d in DIMENSIONS)}, labels))"
"""the same for runs of the same thing; everything that says what was run, labels included"""
DATA_TYPE = "CASE WHEN coalesce(data_store, '') = '' THEN coalesce(data, '') ELSE concat(data, ' (', data_store, ')') END"
PARQUET = "(FORMAT parquet, COMPRESSION zstd)"


def connect() -> duckdb.DuckDBPyConnection:
    """In memory, by itself: it reads no settings, loads nothing and never reaches for the network."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET autoinstall_known_extensions=false")
    connection.execute("SET autoload_known_extensions=false")
    connection.execute("SET preserve_insertion_order=false")
    return connection


def literal(path: str | Path) -> str:
    """A file name for COPY, which takes no parameter."""
    return "'" + str(path).replace("'", "''") + "'"


def files(paths: Sequence[str]) -> str:
    """A table made of Parquet files."""
    return f"read_parquet([{', '.join(map(literal, paths))}], union_by_name=true)"


def write(connection: duckdb.DuckDBPyConnection, columns: Columns, earlier: Sequence[str], path: Path) -> int:
    """The rows as a segment; an id that is there already is not taken again. How many rows."""
    new, dims = columns.arrays(), _dimension_arrays(columns)
    connection.register("new_rows", new)
    connection.register("new_dimensions", dims)
    figures = ", ".join(f"CASE WHEN isnan({f}) THEN NULL ELSE {f} END AS {f}" for f in FIGURES if f != "peak_bytes")
    peak = "CASE WHEN isnan(peak_bytes) THEN NULL ELSE peak_bytes::BIGINT END AS peak_bytes"
    texts = ", ".join(f"{t}::VARCHAR AS {t}" for t in TEXTS if t not in ("id", "started"))
    dimensions = ", ".join(f"{d}::{'INTEGER' if d in NUMBERS else 'VARCHAR'} AS {d}" for d in DIMENSIONS)
    known = f"AND NOT EXISTS (SELECT 1 FROM {files(earlier)} e WHERE e.id = n.id)" if earlier else ""
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE fresh AS
        WITH d AS (SELECT code AS d_code, labels::VARCHAR AS labels, {dimensions} FROM new_dimensions),
             n AS (SELECT code, id::VARCHAR AS id, nullif(started::VARCHAR, '') AS started, file::VARCHAR AS file, place,
                   {texts}, {figures}, {peak} FROM new_rows),
             once AS (SELECT * FROM n WHERE true {known} QUALIFY row_number() OVER (PARTITION BY id ORDER BY file, place) = 1)
        SELECT * EXCLUDE (code, d_code), {CONFIGURATION} AS config FROM once JOIN d ON once.code = d.d_code
        """
    )
    connection.unregister("new_rows")
    connection.unregister("new_dimensions")
    rows: int = connection.execute("SELECT count(*) FROM fresh").fetchall()[0][0]
    copy(connection, "SELECT * FROM fresh ORDER BY started, id", path)
    connection.execute("DROP TABLE fresh")
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


def _dimension_arrays(columns: Columns) -> dict[str, np.ndarray[Any, Any]]:
    """As text, so that a column without any value has a type too."""
    rows = columns.dimensions
    found: dict[str, np.ndarray[Any, Any]] = {"code": np.arange(len(rows))}
    for name in DIMENSIONS:
        found[name] = np.array([None if row[name] is None else str(row[name]) for row in rows], dtype=object)
    found["labels"] = np.array([json.dumps(row["labels"], sort_keys=True) for row in rows], dtype=object)
    return found

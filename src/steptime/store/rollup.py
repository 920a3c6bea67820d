"""One row for each configuration and way of ending: what a chart of millions of runs is drawn from.

A configuration is everything that says what was run. Its runs are reduced to count, extremes, mean, median and spread of
each figure; contended runs are kept apart, so that they can be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.store import tables
from steptime.store.columns import COLUMNS, CONFIGURING, FIGURES, MEASURES
from steptime.store.tables import DATA_TYPE

if TYPE_CHECKING:
    import duckdb

WITH_INTERVAL = tuple(c.name for c in FIGURES if c.interval)
ROWS_AT_ONCE = 2_000_000
"""medians hold all values in memory"""


def text(column: str) -> str:
    """Any dimension as text; what is not said is empty."""
    return f"coalesce({column}::VARCHAR, '')"


def runs(source: str) -> str:
    """Rows as the guide sees them: what is not said is an empty text, a number that is not said is NULL."""
    dimensions = ", ".join(d if COLUMNS[d].kind == "number" else f"coalesce({d}, '') AS {d}" for d in CONFIGURING)
    return f"""
        SELECT config, id, file, byte_offset, labels, status, verdict, verdict = 'contended' AS contended,
            coalesce(sweep, '') AS sweep, coalesce(started, '') AS started, coalesce(started, '')[:10] AS date,
            {DATA_TYPE} AS data_type, {dimensions},
            {", ".join(f"{_believable(c.name)} AS {c.name}" for c in FIGURES)}
        FROM {source}"""


def _believable(figure: str) -> str:
    """The figure; an interval that does not hold its own value says nothing."""
    return f"CASE WHEN throughput BETWEEN ci_low AND ci_high THEN {figure} END" if figure in ("ci_low", "ci_high") else figure


def reduced(source: str, extra: Sequence[str] = ()) -> str:
    """Runs (as `runs` gives them) to rows of the rollup; `extra` columns make separate rows of their values."""
    keys = ["config", "status", "contended", *extra]
    fixed = [d for d in (*CONFIGURING, "data_type", "labels") if d not in extra]
    figures = [
        f"count({m}) AS {m}_n, min({m}) AS {m}_min, max({m}) AS {m}_max, avg({m}) AS {m}_mean, "
        f"median({m}) AS {m}_median, stddev_samp({m}) AS {m}_sd"
        for m in MEASURES
    ]
    return f"""
        SELECT {", ".join(keys)}, {", ".join(f"any_value({d}) AS {d}" for d in fixed)}, count(*) AS n, {", ".join(figures)},
            {", ".join(_ends(m, extreme) for m in WITH_INTERVAL for extreme in ("min", "max"))}
        FROM {source} GROUP BY {", ".join(keys)}"""


def _ends(measure: str, extreme: str) -> str:
    """The interval of throughput of the run whose value is the least or the largest, as {measure}_{extreme}_ends."""
    return f"{ends_at(measure, extreme, 'ci_low', 'ci_high')} AS {measure}_{extreme}_ends"


def ends_at(value: str, extreme: str, low: str, high: str) -> str:
    """Both ends of the row at the extreme, NULL where it has none: never those of another row.

    Of rows with the same value one that has an interval is taken, the widest.
    """
    ranked = {"max": f"{low} IS NOT NULL, -{low}, {high}", "min": f"{low} IS NULL, {low}, -{high}"}[extreme]
    return f"arg_{extreme}({{'low': {low}, 'high': {high}}}, ({value}, {ranked})) FILTER ({value} IS NOT NULL)"


def write(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], touched: Sequence[str], old: str, target: str, rows: int
) -> None:
    """The rollup of all segments. Where there is an old one, only the configurations in the touched tables are made anew."""
    connection.execute("DROP TABLE IF EXISTS rolled")
    if old and touched:
        every = " UNION ALL ".join(f"SELECT config FROM {table}" for table in touched)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE touched AS SELECT DISTINCT config FROM ({every})")
        source = f"({runs(tables.files(paths))} WHERE config IN (SELECT config FROM touched))"
        connection.execute(f"CREATE TEMP TABLE rolled AS {reduced(source)}")
        kept = f"SELECT * FROM {tables.files([old])} WHERE config NOT IN (SELECT config FROM touched)"
        connection.execute(f"INSERT INTO rolled BY NAME {kept}")
    else:
        _in_parts(connection, paths, rows)
    tables.copy(connection, "SELECT * FROM rolled", Path(target))
    connection.execute("DROP TABLE rolled")


def _in_parts(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], rows: int) -> None:
    parts = next(p for p in (1, 4, 16) if rows / p <= ROWS_AT_ONCE or p == 16)
    digits = "0123456789abcdef"
    for part in range(parts):
        first = digits[part * 16 // parts : (part + 1) * 16 // parts]
        condition = f"WHERE config[1] IN ({', '.join(tables.literal(d) for d in first)})" if parts > 1 else ""
        query = reduced(f"({runs(tables.files(paths))} {condition})")
        connection.execute(f"{'INSERT INTO rolled' if part else 'CREATE TEMP TABLE rolled AS'} {query}")

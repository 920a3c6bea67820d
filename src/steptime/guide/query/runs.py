"""From a point to its runs, and from there to one run."""

from __future__ import annotations

from typing import Any

from steptime.core.errors import UnknownRun
from steptime.core.schema import Record
from steptime.guide.query.filter_sql import Select, intersection
from steptime.guide.query.results import RunList
from steptime.guide.view.view import View
from steptime.store.columns import NAMES
from steptime.store.files import Store
from steptime.store.record_search import read_at
from steptime.store.snapshot import Snapshot

MOST_RUNS = 1000


def runs(snapshot: Snapshot, view: View, limit: int = 100, offset: int = 0) -> RunList:
    """Newest first, contended ones too: each row says its verdict. With view.runs, those and no others.

    Ids first, then whole rows of those few: reading all columns to find the newest would cost several times as much.
    """
    limit, offset = min(max(limit, 0), MOST_RUNS), max(offset, 0)
    select = Select(view)
    where = select.where(intersection(view.filters, ()))
    if view.runs:
        where += f" AND list_contains({select.bind(list(view.runs))}, id)"
    total = snapshot.ask(f"SELECT count(*) FROM runs WHERE {where}", select.parameters)[0][0]
    order = f"ORDER BY started DESC, id DESC LIMIT {limit} OFFSET {offset}"
    newest = snapshot.ask(f"SELECT id, started FROM runs WHERE {where} {order}", select.parameters)
    return RunList(view, tuple(rows_of(snapshot, newest)), int(total))


def rows_of(snapshot: Snapshot, runs: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Index rows of (id, started) pairs, in that order. The time lets the database skip what cannot hold them."""
    if not runs:
        return []
    ids, times = [identity for identity, _ in runs], [started for _, started in runs]
    query = "rows WHERE list_contains($ids, id) AND coalesce(started, '') BETWEEN $first AND $last"
    rows = snapshot.index_rows(query, {"ids": ids, "first": min(times), "last": max(times)})
    places = {identity: place for place, identity in enumerate(ids)}
    return sorted(rows, key=lambda row: places[row["id"]])


def record(snapshot: Snapshot, store: Store, identity: str) -> Record:
    """One run, complete. The id is looked up in the index, so it never becomes part of a path."""
    rows = snapshot.ask("SELECT file, byte_offset FROM rows WHERE id = $id LIMIT 1", {"id": identity})
    if not rows:
        raise unknown_run(snapshot, identity)
    return read_at(store, identity, *rows[0])


def records(snapshot: Snapshot, store: Store, identities: list[str]) -> dict[str, Record]:
    """Those of these runs that exist, complete."""
    query = "SELECT id, file, byte_offset FROM rows WHERE id IN (SELECT unnest($ids))"
    return {
        identity: read_at(store, identity, file, byte_offset)
        for identity, file, byte_offset in snapshot.ask(query, {"ids": identities})
    }


def unknown_run(snapshot: Snapshot, identity: str) -> UnknownRun:
    newest = snapshot.ask("SELECT id FROM runs ORDER BY started DESC LIMIT 3")
    return UnknownRun(identity[:100], [name for (name,) in newest])


def columns(snapshot: Snapshot) -> dict[str, list[Any]]:
    """All index columns of all runs, oldest first, for a report that has no server to ask."""
    rows = snapshot.index_rows("rows ORDER BY started, id")
    return {name: [row[name] for row in rows] for name in NAMES}

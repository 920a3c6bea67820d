"""A snapshot loads its roll-up when a query first needs it."""

from steptime.store.files import Store
from steptime.store.parquet_index import ParquetIndex
from steptime.store.snapshot import Snapshot


def tables_in(snapshot: Snapshot) -> set[str]:
    return {name for (name,) in snapshot.ask("SELECT table_name FROM information_schema.tables")}


def test_the_rollup_is_loaded_by_the_first_query_that_names_it(tmp_path):
    index = ParquetIndex(Store(tmp_path))
    index.refresh()
    snapshot = Snapshot.of(index)
    assert snapshot.ask("SELECT count(*) FROM runs") == [(0,)]
    assert "rollup" not in tables_in(snapshot)
    assert snapshot.ask("SELECT count(*) FROM rollup") == [(0,)]
    assert "rollup" in tables_in(snapshot)

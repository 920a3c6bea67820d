"""The records of a sweep are found at once, by the index and without it, and nobody else's records are decoded."""

import os
from dataclasses import replace

import pytest

from steptime.core.errors import StoreError
from steptime.core.schema import Case, Machine, Record, to_json
from steptime.store import lookup, record_search
from steptime.store.files import Store
from steptime.store.parquet_index import ParquetIndex
from steptime.store.record_search import records_like, records_of_sweep, records_of_sweeps

MACHINE = Machine("m", "node", "CPU", 1, 2, 2, 2.0, 1, 1, "Debian 12", "6.1", "x86_64")


def record(identity, sweep="", model="mlp", **more):
    return Record(identity, "crash", Case(model, "null", 8, **more), "2026-01-01T00:00:00.000+00:00", sweep=sweep)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """With an index that counts as worth asking, of a batch and some single files."""
    made = Store(tmp_path / "results")
    made.put_all([record(f"pushed-{i}", f"s{i % 3}") for i in range(9)])
    made.put(record("a-1", "s1"))
    made.put(record("a-2", "s2", "cnn"))
    monkeypatch.setattr(lookup, "ENOUGH_ROWS", 0)
    monkeypatch.setattr(record_search, "ENOUGH_ROWS", 1)
    ParquetIndex(made).refresh()
    return made


def ids(found):
    return [r.id for r in found]


def by_reading_all(store, sweep):
    return [r.id for r in store.read()[0] if r.sweep == sweep]


def test_index_and_files_give_the_same_records_in_the_same_order(store, monkeypatch):
    for enough in (1, 10**9):
        monkeypatch.setattr(record_search, "ENOUGH_ROWS", enough)
        found = records_of_sweeps(store, ["s0", "s1", "s2", "none"])
        assert {sweep: ids(records) for sweep, records in found.items()} == {
            sweep: by_reading_all(store, sweep) for sweep in ("s0", "s1", "s2", "none")
        }
    assert found["s1"] == [r for r in store.read()[0] if r.sweep == "s1"]


def test_a_record_counts_from_the_moment_it_is_stored(store):
    for number in range(5):
        store.put(record(f"b-{number}", "s1"))
        assert f"b-{number}" in ids(records_of_sweep(store, "s1"))
    store.put_all([record("in-a-batch", "s1")])
    assert ids(records_of_sweep(store, "s1")) == by_reading_all(store, "s1")


def test_what_the_index_knows_is_not_read_again_and_others_are_not_decoded(store, monkeypatch):
    store.put(record("new-mine", "s1"))
    store.put(record("new-other", "s2"))
    decoded = []
    original = record_search.decode

    def noted(decoder, content):
        decoded.append(content)
        return original(decoder, content)

    monkeypatch.setattr(record_search, "decode", noted)
    monkeypatch.setattr(Store, "read", None)
    assert "new-mine" in ids(records_of_sweep(store, "s1"))
    assert len(decoded) == 1


def test_a_record_that_was_archived_or_moved_in_its_batch_is_found_where_it_is_now(store):
    (single,) = store.records_folder.glob("*/*/a-1.json")
    single.unlink()
    assert ids(records_of_sweep(store, "s1")) == by_reading_all(store, "s1") == ["pushed-1", "pushed-4", "pushed-7"]
    (batch,) = store.records_folder.glob("*/*/*.jsonl")
    batch.write_bytes(b"".join(batch.read_bytes().splitlines(keepends=True)[1:]))
    assert ids(records_of_sweep(store, "s1")) == ["pushed-1", "pushed-4", "pushed-7"]


def test_where_the_index_stays_wrong_every_file_is_looked_into(store, monkeypatch):
    def moved(*_):
        raise StoreError("no longer where it was")

    monkeypatch.setattr(record_search, "read_at", moved)
    assert ids(records_of_sweep(store, "s1")) == by_reading_all(store, "s1")


def test_a_copy_of_a_record_counts_once(store):
    (single,) = store.records_folder.glob("*/*/a-1.json")
    folder = store.records_folder / "2031" / "01"
    folder.mkdir(parents=True)
    (folder / "a-1.json").write_bytes(single.read_bytes())
    assert ids(records_of_sweep(store, "s1")) == by_reading_all(store, "s1")


def test_damaged_files_hold_no_records_and_stay_for_who_reads_all(store):
    path = store.put(record("torn", "s1"))
    path.write_text(to_json(record("torn", "s1"))[:-20])
    assert "torn" not in ids(records_of_sweep(store, "s1"))
    assert path.exists()


@pytest.mark.parametrize("indexed", [True, False])
def test_a_store_that_cannot_be_written_is_read_all_the_same(store, monkeypatch, indexed):
    if not indexed:
        (store.root / "index" / "manifest.json").unlink()
    store.put(record("late", "s1"))
    before = sorted(path.name for path in (store.root / "index").iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert ids(records_of_sweep(store, "s1")) == by_reading_all(store, "s1")
    assert sorted(path.name for path in (store.root / "index").iterdir()) == before


def test_much_that_is_not_indexed_is_indexed_first(store, monkeypatch):
    monkeypatch.setattr(record_search, "ENOUGH_BYTES", 1)
    (store.root / "index" / "manifest.json").unlink()
    assert ids(records_of_sweep(store, "s1")) == by_reading_all(store, "s1")
    index = ParquetIndex(store)
    index.open()
    assert index.manifest.rows == 11


def test_no_sweeps_need_no_look(store, monkeypatch):
    monkeypatch.setattr(Store, "names", None)
    assert records_of_sweeps(store, []) == {}


def test_records_like_a_case_are_of_its_model_with_any_options_and_of_the_same_host(store):
    def here(identity, **more):
        return replace(record(identity, model="cnn", **more), machine=replace(MACHINE, host="here"))

    wide = here("wide")
    store.put(replace(wide, case=replace(wide.case, model_options={"width": 9})))
    store.put(here("plain"))
    store.put(here("elsewhere", device="cuda"))
    store.put(replace(here("there"), machine=replace(MACHINE, host="there")))
    ParquetIndex(store).refresh()
    store.put(here("new"))
    assert ids(records_like(store, [Case("cnn", "null", 99)], "here")) == ["new", "plain", "wide"]


def test_of_one_configuration_the_index_gives_the_newest_records(store):
    for number in range(record_search.RUNS_OF_EACH + 3):
        store.put(replace(record(f"c-{number:02d}", model="cnn"), machine=MACHINE))
    ParquetIndex(store).refresh()
    found = ids(records_like(store, [Case("cnn", "null", 99)], MACHINE.host))
    assert len(found) == record_search.RUNS_OF_EACH and found[-1] == "c-10"

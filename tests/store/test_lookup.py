"""The index gives verbs the same answers as the record files do."""

from dataclasses import replace

import pytest

from steptime.core.errors import SteptimeError
from steptime.store import lookup, record_search
from steptime.store.files import Store
from tests.store.test_parquet_index import RECORDS, files_taken


@pytest.fixture
def store(tmp_path):
    return filled(tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    return filled(tmp_path_factory.mktemp("unchanged"))


def filled(folder):
    made = Store(folder / "results")
    made.put_all(RECORDS[4:])
    for record in RECORDS[:4]:
        made.put(record)
    made.put_all(
        [replace(RECORDS[2], id=f"many-{i}", case=replace(RECORDS[2].case, labels={"z": "1", "a": str(i)})) for i in range(3)]
    )
    return made


def both(monkeypatch, ask):
    """What the files say, and what the index says."""
    told = []
    for enough in (10**9, 0):
        monkeypatch.setattr(lookup, "ENOUGH_ROWS", enough)
        try:
            told.append(ask())
        except SteptimeError as problem:
            told.append((type(problem), str(problem)))
    return told


WANTED = [
    {}, {"status": ["ok"]}, {"model": ["mlp", "vgg16"]}, {"phase": ["None"]}, {"replica_batch": ["8"]},
    {"effective_batch": ["64"]},
    {"throughput": ["12.5"]}, {"labels": ["{}"]}, {"status": ["ok"], "throughput": ["12.5", "None"]}, {"model": ["'; DROP"]},
    {"colour": ["red"]}, {"peak_bytes": ["5"]}, {"started": ["None", "2026-01-03"]}, {"queue_seconds": ["3.5"]},
]  # fmt: skip


@pytest.mark.parametrize("wanted", WANTED, ids=str)
@pytest.mark.parametrize("last", [0, 2])
def test_rows_are_the_same_in_the_same_order(unchanged, monkeypatch, wanted, last):
    files, index = both(monkeypatch, lambda: lookup.rows(unchanged, wanted, last))
    if isinstance(files, tuple):
        assert files == index
        return
    assert list(files.rows) == list(index.rows)
    assert [list(row["labels"]) for row in files.rows] == [list(row["labels"]) for row in index.rows], "labels as written"


@pytest.mark.parametrize("name", ["last", "failed", "fail", "iled", "many-", "many-1", "nothing", "", "im", "x"])
def test_one_record_is_found_the_same_way(unchanged, monkeypatch, name):
    files, index = both(monkeypatch, lambda: lookup.find(unchanged, name))
    assert files == index


def test_the_last_of_a_store_of_batches_only_is_the_last_line(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put_all(RECORDS[4:])
    files, index = both(monkeypatch, lambda: lookup.find(store, "last"))
    assert files == index == RECORDS[-1]


def test_few_records_are_read_without_an_index(store):
    lookup.rows(store, {})
    assert not (store.root / "index").exists()


def test_an_index_is_made_when_there_is_much_and_then_not_looked_through_again(store, monkeypatch):
    monkeypatch.setattr(record_search, "ENOUGH_BYTES", 1)
    monkeypatch.setattr(lookup, "ENOUGH_ROWS", 1)
    monkeypatch.setattr("steptime.store.parquet_index.TIMESTAMP_MARGIN_SECONDS", -3600.0)
    count = len(lookup.rows(store, {}).rows)
    taken = files_taken(monkeypatch)
    looked = []
    monkeypatch.setattr("steptime.store.parquet_index._stamps", lambda store: looked.append(store) or {})
    assert len(lookup.rows(store, {}).rows) == count
    assert looked == [] and taken == []
    monkeypatch.undo()
    store.put(replace(RECORDS[2], id="arrived"))
    monkeypatch.setattr(lookup, "ENOUGH_ROWS", 1)
    assert lookup.find(store, "arrived").id == "arrived"


def test_what_is_damaged_is_told_once(store, monkeypatch):
    monkeypatch.setattr(lookup, "ENOUGH_ROWS", 0)
    (store.records_folder / "2026" / "01" / "torn.json").write_text('{"half')
    found = lookup.rows(store, {})
    assert [d.path.name for d in found.damaged] == ["torn.json"]
    assert lookup.rows(store, {}).damaged == []


def test_an_index_elsewhere_is_no_reason_to_fail(store, monkeypatch):
    monkeypatch.setattr(lookup, "ENOUGH_ROWS", 0)
    monkeypatch.setattr(lookup.os, "access", lambda path, mode: False)
    assert len(lookup.rows(store, {}).rows) == len(RECORDS) + 3

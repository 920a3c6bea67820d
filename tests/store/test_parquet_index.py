import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from steptime.core.schema import Allocation, Case, Contention, Printed, Record, Software, Source, to_json
from steptime.store import parquet_index as module
from steptime.store import tables
from steptime.store.columns import row_of
from steptime.store.files import Store
from steptime.store.parquet_index import Manifest, ParquetIndex
from steptime.store.record_search import read_at
from steptime.store.snapshot import Snapshot
from tests.core.stats.test_invariants import record as measured

SOFTWARE = Software("3.11", "/p", "PyTorch", "2.13", "0")
RECORDS = [
    measured(),
    replace(measured(), id="contended", contention=Contention("contended", "busy", 1.0, 1.0, 0.1, 3), software=SOFTWARE),
    Record("failed", "out_of_memory", Case("mlp", "pytorch", 8, labels={"site": "a,b", "é": '"'}), "2026-01-02", "no room"),
    Record("options", "crash", Case("mlp", "jax", 4, model_options={"width": 8}, devices=2, nodes=2), "2026-01-03", sweep="s"),
    Record(
        "imported", "ok",
        Case("vgg16", "", 0, phase="", precision="", device="", devices=0, nodes=0, threads=0, data="", data_store=""),
        "", origin="dlbs", printed=Printed(mean_speed=12.5, p95_seconds=0.1, peak_bytes=5),
        source=Source("dlbs", "f.log", 3, "0", "DL380", "P100", "InfiniBand", "docker"),
    ),
    Record(
        "derived", "ok", Case("vgg16", "caffe", 32, devices=2), "2018-06-04", origin="dlbs", printed=Printed(mean_seconds=0.5),
        source=Source("dlbs", "f.log", 4, "0"),
    ),
    Record(
        "told", "ok", Case("vgg16", "caffe", 0, devices=2), "2018-06-04", origin="dlbs",
        printed=Printed(mean_seconds=0.5, effective_batch=64), source=Source("dlbs", "f.log", 5, "0"),
    ),
    replace(measured(), id="given", allocation=Allocation("site", "77_1", "gpu", ran_on="cpu", queue_seconds=3.5)),
    Record("lost", "node_failure", Case("mlp", "jax", 4, device="k80"), "2026", allocation=Allocation("s", "7", ran_on="cuda")),
]  # fmt: skip


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "results")
    made.prepare()
    return made


def built_anew(store):
    shutil.rmtree(store.root / "index")
    index = ParquetIndex(store)
    index.refresh()
    return index


def rows(index):
    return {row["id"]: row for row in Snapshot.of(index).index_rows("rows")}


def test_rows_of_the_index_are_those_that_the_records_give(store):
    store.put(RECORDS[0])
    store.put_all(RECORDS[1:])
    index = ParquetIndex(store)
    assert index.refresh()
    assert rows(index) == {record.id: row_of(record) for record in RECORDS}


def files_taken(monkeypatch):
    """The files that are read from now on."""
    taken = []
    original = module.outcomes

    def noted(do, shares, processes):
        taken.extend(piece.file for share in shares for piece in share.pieces)
        return original(do, shares, processes)

    monkeypatch.setattr(module, "outcomes", noted)
    return taken


def test_only_new_files_are_read(store, monkeypatch):
    store.put_all(RECORDS[:2])
    index = ParquetIndex(store)
    index.refresh()
    taken = files_taken(monkeypatch)
    assert not index.refresh()
    store.put(RECORDS[2])
    assert index.refresh()
    assert len(taken) == 1 and "failed" in taken[0]
    assert set(rows(index)) == {"x", "contended", "failed"}
    again = ParquetIndex(store)
    again.refresh()
    assert len(taken) == 1, "another process reads what was derived already"
    assert rows(again) == rows(index)


@pytest.mark.real
def test_the_rollup_after_many_small_additions_is_that_of_building_anew(store):
    index = ParquetIndex(store)
    for number in range(20):
        base = measured()
        store.put(replace(base, id=f"r{number}", case=replace(base.case, batch=8 if number % 3 else 16)))
        index.refresh()
    assert len(index.manifest.segments) <= module.MOST_SMALL + 1
    by_config = "SELECT * FROM rollup ORDER BY config"
    grown = Snapshot.of(index).ask(by_config)
    index = built_anew(store)
    assert [[pytest.approx(v) if isinstance(v, float) else v for v in row] for row in grown] == [
        list(r) for r in Snapshot.of(index).ask(by_config)
    ]


def test_an_id_counts_once_however_often_it_is_stored(store):
    store.put_all(RECORDS[:3])
    index = ParquetIndex(store)
    index.refresh()
    (store.records_folder / "2020" / "01").mkdir(parents=True)
    (path,) = store.paths()
    (store.records_folder / "2020" / "01" / "copy.jsonl").write_bytes(path.read_bytes() * 2)
    index.refresh()
    assert index.manifest.rows == 3


def test_what_is_taken_away_is_no_longer_there(store):
    first = store.put(RECORDS[0])
    store.put(RECORDS[2])
    index = ParquetIndex(store)
    index.refresh()
    first.unlink()
    assert index.refresh()
    assert set(rows(index)) == {"failed"}


def test_taking_one_away_reads_no_other_file_again(store, monkeypatch):
    store.put_all(RECORDS[3:])
    gone, kept = store.put(RECORDS[0]), store.put(RECORDS[2])
    index = ParquetIndex(store)
    index.refresh()
    taken = files_taken(monkeypatch)
    gone.unlink()
    assert index.refresh()
    assert taken == []
    assert set(rows(index)) == {r.id for r in RECORDS[2:]}
    rolled = "SELECT config, status, n, throughput_max FROM rollup ORDER BY ALL"
    grown = Snapshot.of(index).ask(rolled)
    kept.unlink()
    assert index.refresh() and taken == []
    assert set(rows(index)) == {r.id for r in RECORDS[3:]}
    store.put(RECORDS[2])
    index.refresh()
    assert Snapshot.of(index).ask(rolled) == grown
    index = built_anew(store)
    assert Snapshot.of(index).ask(rolled) == grown


def test_a_copy_counts_when_the_first_is_taken_away(store):
    first = store.put(RECORDS[2])
    store.put_all(RECORDS[2:4])
    index = ParquetIndex(store)
    index.refresh()
    assert index.manifest.rows == 2
    first.unlink()
    ParquetIndex(store).refresh()
    index.refresh()
    assert set(rows(index)) == {"failed", "options"}


def test_a_file_that_was_replaced_is_read_again(store):
    path = store.put(RECORDS[2])
    index = ParquetIndex(store)
    index.refresh()
    path.write_text(to_json(replace(RECORDS[2], message="another")))
    index.refresh()
    assert rows(index)["failed"]["message"] == "another"


def test_runs_behind_a_line_that_was_taken_out_are_still_found(store):
    path = store.put_all(RECORDS[:3])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b'{"torn\n', lines[1], lines[2]]))
    index = ParquetIndex(store)
    index.refresh()
    for identity, byte_offset in Snapshot.of(index).ask("SELECT id, byte_offset FROM rows"):
        with open(path, "rb") as opened:
            opened.seek(byte_offset)
            assert f'"id":"{identity}"' in opened.readline().decode()


@pytest.mark.parametrize("most", [8001, 20_000, 10**9])
def test_shares_together_hold_every_line_once(store, monkeypatch, most):
    path = store.put_all([replace(RECORDS[0], id=f"r{i}", message="m" * (i * 37 % 500)) for i in range(40)])
    single = store.put(RECORDS[2])
    monkeypatch.setattr(module, "LEAST_SHARE", most)
    monkeypatch.setattr(module, "MOST_SHARE", most)
    index = ParquetIndex(store)
    index.refresh()
    assert set(rows(index)) == {f"r{i}" for i in range(40)} | {"failed"}
    assert index.manifest.rows == 41
    path.unlink()
    index.refresh()
    assert set(rows(index)) == {"failed"}, single


@pytest.mark.real
@pytest.mark.parametrize("helper", ["python -m", "gone"])
def test_processes_beside_this_one_give_the_same_index_and_are_not_missed(store, monkeypatch, helper):
    store.put_all([replace(RECORDS[0], id=f"r{i}") for i in range(200)])
    store.put_all(RECORDS)
    one = ParquetIndex(store)
    one.refresh()
    alone = rows(one)
    monkeypatch.setattr(module, "LEAST_SHARE", 20_000)
    monkeypatch.setattr(module, "MOST_SHARE", 20_000)
    monkeypatch.setattr(module, "PARALLEL_BYTES", 1)
    monkeypatch.setattr(module, "usable_threads", lambda: 3)
    if helper == "gone":
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    one = built_anew(store)
    assert rows(one) == alone
    assert one.manifest.rows == 200 + len(RECORDS)


def test_damaged_files_and_lines_go_into_quarantine_and_the_rest_counts(store):
    path = store.put_all(RECORDS[:3])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b'{"torn\n', lines[1], b'{"id": 5}\n', lines[2]]))
    single = store.put(RECORDS[3])
    single.write_text('{"half')
    index = ParquetIndex(store)
    index.refresh()
    assert set(rows(index)) == {"x", "contended", "failed"}
    assert sorted("line" in d.reason for d in index.damaged) == [False, True, True]
    assert len(list((store.root / "quarantine").glob("*.reason.txt"))) == 3
    assert not ParquetIndex(store).refresh() or set(rows(index)) == {"x", "contended", "failed"}


def test_a_store_without_records_can_be_asked_and_then_filled(tmp_path):
    index = ParquetIndex(Store(tmp_path / "new"))
    index.refresh()
    assert rows(index) == {}
    index.store.put(RECORDS[2])
    index.refresh()
    assert set(rows(index)) == {"failed"}


def test_a_store_of_nothing_but_damage_is_an_empty_one(store):
    store.put(RECORDS[0]).write_text('{"half')
    index = ParquetIndex(store)
    index.refresh()
    assert rows(index) == {} and len(index.damaged) == 1
    store.put(RECORDS[2])
    index.refresh()
    assert set(rows(index)) == {"failed"}


def test_a_store_that_cannot_be_written_is_indexed_all_the_same(store, monkeypatch):
    store.put_all(RECORDS)

    def refuse(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr(module, "_wait_for", refuse)
    index = ParquetIndex(store)
    index.refresh()
    assert len(rows(index)) == len(RECORDS)
    assert not (store.root / "index" / "manifest.json").exists()


def test_an_index_of_another_format_or_with_lost_segments_is_built_anew(store):
    store.put_all(RECORDS)
    index = ParquetIndex(store)
    index.refresh()
    manifest = store.root / "index" / "manifest.json"
    for damage in ('{"format": 999}', "nonsense", None):
        if damage is None:
            next((store.root / "index").glob("*[0-9a-f].parquet")).unlink()
        else:
            manifest.write_text(damage)
        again = ParquetIndex(store)
        assert again.refresh()
        assert len(rows(again)) == len(RECORDS)


FORMAT_BEFORE = 3774125948
"""of indexes that called the byte offset `place`"""


def test_an_index_that_an_earlier_steptime_wrote_is_built_anew_and_answers_the_same(store):
    store.put_all(RECORDS)
    index = ParquetIndex(store)
    index.refresh()
    answers = rows(index)
    assert index.manifest.format != FORMAT_BEFORE
    connection = tables.connect()
    for path in map(Path, index.paths()):
        renamed = f"SELECT * EXCLUDE (byte_offset), byte_offset AS place FROM {tables.files([str(path)])}"
        tables.copy(connection, renamed, path)
    manifest = store.root / "index" / "manifest.json"
    manifest.write_bytes(msgspec.json.encode(msgspec.structs.replace(index.manifest, format=FORMAT_BEFORE)))
    again = ParquetIndex(store)
    assert again.refresh()
    assert rows(again) == answers
    (found,) = Snapshot.of(again).ask("SELECT file, byte_offset FROM rows WHERE id = 'told'")
    assert read_at(store, "told", *found).id == "told"


@pytest.mark.real
def test_many_processes_write_and_index_at_once_and_nothing_is_lost_or_doubled(store):
    program = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from steptime.core.schema import Case, Record; from steptime.store.files import Store\n"
        "from steptime.store.parquet_index import ParquetIndex\n"
        "store = Store(Path(sys.argv[1])); index = ParquetIndex(store)\n"
        "for i in range(8):\n"
        "    store.put(Record(f'{sys.argv[2]}-{i}', 'crash', Case('mlp', 'null', 8), '2026-01-01'))\n"
        "    index.refresh()\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", program, str(store.root), str(w)]) for w in range(3)]
    index, stop, seen = ParquetIndex(store), threading.Event(), []

    def read():
        while not stop.is_set():
            index.refresh()
            seen.append(Snapshot.of(index).ask("SELECT count(*), count(DISTINCT id) FROM rows")[0])

    reader = threading.Thread(target=read)
    reader.start()
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    stop.set()
    reader.join()
    assert all(count == distinct for count, distinct in seen)
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)
    final = ParquetIndex(store)
    final.refresh()
    assert len(rows(final)) == 24
    assert final.manifest != Manifest()

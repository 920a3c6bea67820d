import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from steptime.core.errors import StoreError, UnknownName, UsageError
from steptime.core.schema import Case, Record
from steptime.store.files import Store, new_id


def failed(identity=None, **changes):
    case = Case("mlp", "null", 8)
    return Record(identity or new_id(), "crash", case, "2026-03-01T00:00:00.000+00:00", message="x", **changes)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.prepare()
    return store


def test_what_is_put_is_read_back(store):
    records = [failed() for _ in range(3)]
    for record in records:
        store.put(record)
    found, damaged = store.read()
    assert sorted(found, key=lambda r: r.id) == sorted(records, key=lambda r: r.id)
    assert damaged == []
    assert all(path.parent.name == "03" for path in store.paths())


def test_damaged_files_are_quarantined_with_a_reason_and_the_rest_is_read(store):
    store.put(failed())
    folder = store.paths()[0].parent
    (folder / "torn.json").write_text('{"id":"torn","status":"o')
    (folder / "other.json").write_text('{"hello": 1}')
    (folder / "binary.json").write_bytes(b"\x00\xff\xfe")
    (folder / "newer.json").write_text(store.paths()[0].read_text().replace('"schema":1', '"schema":99'))
    (folder / "odd.json").write_text(store.paths()[0].read_text().replace('"crash"', '"vanished"'))
    found, damaged = store.read()
    assert len(found) == 1
    assert len(damaged) == 5
    reasons = {d.path.stem: d.reason for d in damaged}
    assert "newer steptime" in reasons["newer"]
    assert "vanished" in reasons["odd"]
    assert (store.root / "quarantine" / "torn.reason.txt").read_text().startswith("not a record")
    assert store.read() == (found, [])


def test_a_record_is_found_by_a_part_of_its_id(store):
    store.put(failed("20260301-120000-aaaa0000"))
    store.put(failed("20260301-120001-bbbb0000"))
    assert store.find("last").id.endswith("bbbb0000")
    assert store.find("aaaa0000").id.startswith("20260301-120000")
    with pytest.raises(UsageError, match="could be any of"):
        store.find("20260301")
    with pytest.raises(UnknownName, match="20260301-120001-bbbb0000"):
        store.find("nothing")


def test_a_batch_is_read_like_single_records_and_stored_once(store):
    single, many = failed(), [failed(f"import-{n}") for n in range(5)]
    store.put(single)
    first, again = store.put_all(many), store.put_all(many)
    assert first == again and first.suffix == ".jsonl"
    found, damaged = store.read()
    assert {r.id for r in found} == {single.id, *(r.id for r in many)} and damaged == []
    assert dict(store.ids())["import-3"] == first
    assert store.find("import-3") == many[3]
    assert store.find("last") == single


def test_a_record_that_lies_in_two_batches_is_one_record(store):
    store.put_all([failed("a"), failed("b")])
    store.put_all([failed("b"), failed("c")])
    assert sorted(r.id for r in store.read()[0]) == ["a", "b", "c"]


def test_damaged_lines_of_a_batch_are_quarantined_and_the_rest_stays(store):
    path = store.put_all([failed("a"), failed("b"), failed("c")])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40] + b"\n" + lines[2] + b'\xff{"id":')
    found, damaged = store.read()
    assert [r.id for r in found] == ["a", "c"]
    assert [d.path.name for d in damaged] == [f"{path.stem}-line2.json", f"{path.stem}-line4.json"]
    assert damaged[0].path.read_bytes() == lines[1][:40] + b"\n"
    assert damaged[0].path.with_suffix(".reason.txt").read_text().startswith("not a record")
    assert path.read_bytes() == lines[0] + lines[2]
    assert store.read() == (found, [])


def test_a_batch_without_one_whole_line_is_quarantined_as_a_file(store):
    path = store.put_all([failed("a")])
    path.write_bytes(b"\x00\x01\n")
    assert [d.path.name for d in store.read()[1]] == [path.name]
    assert not path.exists()


def test_a_batch_that_cannot_be_stored_says_so_and_leaves_nothing(store):
    store.records_folder.rmdir()
    store.records_folder.write_text("in the way")
    with pytest.raises(StoreError, match="nothing of it was stored"):
        store.put_all([failed("a")])


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_leaves_whole_files_only(store):
    code = (
        "import sys; from pathlib import Path; from steptime.store.files import Store, new_id\n"
        "from steptime.core.schema import Case, Record\n"
        "store = Store(Path(sys.argv[1])); print('go', flush=True)\n"
        "while True:\n"
        "    case, when = Case('mlp', 'null', 8), '2026-03-01T00:00:00.000+00:00'\n"
        "    store.put(Record(new_id(), 'crash', case, when, message='x' * 200000))\n"
    )
    for moment in range(8):
        writer = subprocess.Popen([sys.executable, "-c", code, str(store.root)], stdout=subprocess.PIPE)
        assert writer.stdout and writer.stdout.readline()
        while not store.paths():  # on a busy machine the first takes a while
            time.sleep(0.01)
        time.sleep(0.02 + 0.013 * moment)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    found, damaged = store.read()
    assert found
    assert damaged == []


def test_a_store_that_cannot_be_written_says_so_before_anything_runs(tmp_path):
    (tmp_path / "store").write_text("a file where a folder should be")
    with pytest.raises(StoreError, match="--store DIR"):
        Store(tmp_path / "store").prepare()


def test_a_record_that_cannot_be_stored_is_kept_elsewhere(store, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    record = replace(failed(), started="2027-01-01")
    (store.records_folder / "2027").write_text("in the way")
    with pytest.raises(StoreError, match="is kept in") as caught:
        store.put(record)
    kept = str(caught.value).rpartition("kept in ")[2]
    assert record.id in Path(kept).read_text()

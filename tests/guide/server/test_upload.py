"""Records sent to a guide: what is taken, what is refused, and that nothing is lost or overwritten."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from starlette.testclient import TestClient

from steptime.core.errors import StoreError, UsageError
from steptime.core.schema import Case, Record, case_key
from steptime.guide.query.logs import log_path
from steptime.guide.server import upload
from steptime.guide.server.app import application
from steptime.guide.sharing.push import target_of
from steptime.store.files import Store
from tests.core.stats.test_invariants import record as measured

TOKEN = "a token of the test"
STEPTIME = Path(sys.executable).with_name("steptime")
FAILED = Record(
    "20260102-000000-aa", "out_of_memory", Case("mlp", "pytorch", 8), "2026-01-02T00:00:00.000+00:00", "no room", "s1"
)


def lines(*records, log=""):
    return b"".join(msgspec.json.encode({"record": record, "log": log}) + b"\n" for record in records)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "central")
    made.prepare()
    return made


@pytest.fixture
def client(store):
    return TestClient(application(store, TOKEN, accept=True), base_url="http://localhost")


def send(client, body, token=TOKEN, **headers):
    headers = {"authorization": f"Bearer {token}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return client.post("/api/records", content=body, headers=headers)


def stored(store):
    return {record.id: record for record in store.read()[0]}


def test_records_are_stored_once_however_often_they_are_sent(client, store):
    records = [measured(), FAILED]
    assert send(client, lines(*records)).json() == {"stored": 2, "known": 0, "logs": 0, "refused": []}
    assert send(client, gzip.compress(lines(*records)), content_encoding="gzip").json()["known"] == 2
    assert stored(store) == {r.id: r for r in records}
    assert len(store.paths()) == 1


def test_they_appear_in_the_open_guide(client):
    auth = {"authorization": f"Bearer {TOKEN}"}
    before = client.get("/api/version", headers=auth).json()
    send(client, lines(FAILED))
    assert client.get("/api/version", headers=auth).json() != before
    assert client.get(f"/api/run/{FAILED.id}", headers=auth).json()["row"]["status"] == "out_of_memory"


def test_another_record_of_the_same_id_is_refused_and_ours_stays(client, store):
    send(client, lines(FAILED))
    other = replace(FAILED, message="another")
    answer = send(client, lines(other, measured()))
    assert answer.status_code == 422
    assert answer.json()["stored"] == 1
    assert [r["id"] for r in answer.json()["refused"]] == [FAILED.id]
    assert stored(store)[FAILED.id] == FAILED
    twice = send(client, lines(replace(FAILED, id="new"), replace(other, id="new")))
    assert twice.json()["stored"] == 1 and len(twice.json()["refused"]) == 1


def test_logs_come_along_and_stay_in_their_place(client, store):
    send(client, lines(FAILED, log="it said <b>this</b>"))
    assert log_path(store, FAILED).read_text() == "it said <b>this</b>"
    assert log_path(store, FAILED).is_relative_to(store.root / "sweeps" / "s1")
    answer = client.get(f"/api/run/{FAILED.id}", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.json()["log"] == "it said <b>this</b>"


BAD = {
    "traversal in the id": lambda r: r | {"id": "../../../etc/cron.d/x"},
    "a slash in the id": lambda r: r | {"id": "a/b"},
    "an empty id": lambda r: r | {"id": ""},
    "a long id": lambda r: r | {"id": "a" * 1000},
    "a number for an id": lambda r: r | {"id": 5},
    "traversal in the sweep": lambda r: r | {"sweep": "../../x"},
    "traversal in the time": lambda r: r | {"started": "../../../../x"},
    "a status of its own": lambda r: r | {"status": "splendid"},
    "a newer schema": lambda r: r | {"schema": 99},
    "text for steps": lambda r: r | {"steps": {**r["steps"], "seconds": "many"}},
    "no case": lambda r: {k: v for k, v in r.items() if k != "case"},
    "a case that is a list": lambda r: r | {"case": []},
    "ok without figures": lambda r: r | {"summary": None},
    "no steps": lambda r: r | {"steps": {**r["steps"], "seconds": []}},
    "a speed that is not its time": lambda r: r | {"summary": {**r["summary"], "mean_speed": 1e9}},
    "a batch beyond all machines": lambda r: r | {"case": {**r["case"], "batch": 10**12}},
    "a negative count": lambda r: r | {"case": {**r["case"], "devices": -1}},
    "memory beyond all machines": lambda r: r | {"resources": {**r["resources"], "peak_bytes": 10**300}, "machine": None},
}


def test_bad_records_are_refused_by_name_and_the_others_are_stored(client, store):
    good = json.loads(msgspec.json.encode(measured()))
    bad = {what: damage(good | {"id": f"the-bad-{number}"}) for number, (what, damage) in enumerate(BAD.items())}
    answer = send(client, lines(FAILED) + b"".join(json.dumps({"record": record}).encode() + b"\n" for record in bad.values()))
    assert answer.status_code == 422
    refused = {one["line"]: one for one in answer.json()["refused"]}
    assert sorted(refused) == list(range(2, 2 + len(bad)))
    for line, (what, record) in enumerate(bad.items(), 2):
        assert refused[line]["reason"], what
        assert refused[line]["id"] in (str(record.get("id"))[:128], ""), what
    assert set(stored(store)) == {FAILED.id}
    assert not list(store.root.parent.glob("etc")) and not list(store.root.rglob("x"))


BODIES = {
    "nothing": b"",
    "garbage": b"\x00\xff" * 50,
    "a list": b"[]",
    "deep nesting": b"[" * 100_000,
    "half a line": lines(FAILED)[:40],
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_is_no_record_is_refused(client, store, body):
    assert send(client, body).status_code in (400, 422)
    assert stored(store) == {}


def test_cut_off_bombed_and_unknown_compression_is_refused(client, store):
    whole = gzip.compress(lines(FAILED))
    assert "cut off" in send(client, whole[:-9], content_encoding="gzip").json()["error"]
    assert send(client, whole + b"more", content_encoding="gzip").status_code == 400
    assert send(client, b"not gzip", content_encoding="gzip").status_code == 400
    assert send(client, whole, content_encoding="br").status_code == 400
    bomb = zlib.compressobj(9, wbits=31)
    packed = b"".join(bomb.compress(b" " * (1 << 20)) for _ in range(80)) + bomb.flush()
    assert len(packed) < 200_000
    assert send(client, packed, content_encoding="gzip").status_code == 413
    assert stored(store) == {}


def test_requests_and_records_have_a_size(client, store, monkeypatch):
    assert send(client, b" " * (upload.MAX_BODY_BYTES + 1)).status_code == 413
    monkeypatch.setattr(upload, "MAX_RECORD_BYTES", 5000)
    answer = send(client, lines(FAILED, replace(FAILED, id="large", message="m" * 5000)))
    assert [r["id"] for r in answer.json()["refused"]] == ["large"]
    monkeypatch.setattr(upload, "MAX_RECORDS", 3)
    assert send(client, lines(*[FAILED] * 4)).status_code == 413
    assert set(stored(store)) == {FAILED.id}


def test_without_the_right_token_in_the_header_nothing_is_taken(client, store):
    for token in ("", "wrong", TOKEN + "x", TOKEN[:-1]):
        assert send(client, lines(FAILED), token).status_code == 401
    client.cookies.set("steptime_token", TOKEN)
    assert client.post("/api/records", content=lines(FAILED)).status_code == 401, "a cookie is not enough"
    assert client.post(f"/api/records?token={TOKEN}", content=lines(FAILED)).status_code == 401
    assert stored(store) == {}


def test_a_guide_that_was_not_started_to_accept_takes_nothing(store):
    for token in ("", TOKEN):
        answer = send(TestClient(application(store, token), base_url="http://localhost"), lines(FAILED))
        assert answer.status_code == 405 and "--accept" in answer.json()["error"]
    assert stored(store) == {}


def test_only_that_address_takes_anything(client):
    auth = {"authorization": f"Bearer {TOKEN}"}
    assert client.post("/api/view", content=b"x", headers=auth).status_code == 405
    assert client.put("/api/records", content=b"x", headers=auth).status_code == 405
    assert client.get("/api/records", headers=auth).status_code in (404, 405)


def test_a_full_disk_is_told_and_what_was_there_stays(client, store, monkeypatch):
    send(client, lines(FAILED))

    def full(self, records):
        raise StoreError("cannot write it: No space left on device; nothing of it was stored")

    monkeypatch.setattr(Store, "put_all", full)
    answer = send(client, lines(measured()))
    assert answer.status_code == 507 and "No space left" in answer.json()["error"]
    monkeypatch.undo()
    assert set(stored(store)) == {FAILED.id}
    assert send(client, lines(measured())).json()["stored"] == 1


@pytest.mark.slow
def test_two_who_send_at_once_store_each_record_once(client, store):
    records = [replace(FAILED, id=f"r{i}") for i in range(60)]
    answers = []

    def one(start):
        for i in range(0, 60, 10):
            at = (start + i) % 60
            answers.append(send(client, lines(*records[at : at + 10])).json())

    threads = [threading.Thread(target=one, args=(start,)) for start in (0, 30, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(a["stored"] for a in answers) == 60 and sum(a["known"] for a in answers) == 120
    lines_stored = [line for path in store.paths() for line in path.read_bytes().splitlines()]
    assert len(lines_stored) == 60 == len(stored(store))


@pytest.mark.parametrize(
    ("address", "token", "words"),
    [
        ("ftp://x", "t", "not the address"),
        ("node7:8765", "t", "not the address"),
        ("http://", "t", "not the address"),
        ("http://x:99999", "t", "not an address"),
        ("http://x", "", "a token is needed"),
        ("http://x", "a\nb", "printable"),
    ],
)
def test_an_address_that_cannot_be_one_is_told(address, token, words):
    with pytest.raises(UsageError, match=words):
        target_of(address, token)


def test_the_address_that_the_guide_printed_is_enough():
    target = target_of("http://[::1]:8765/guide?token=abcdefgh", "")
    assert (target.host, target.port, target.token) == ("::1", 8765, "abcdefgh")
    assert target_of("https://x/guide?token=a", "b").token == "b"


@pytest.fixture
def served(store):
    """A guide as a user starts it; its address."""
    command = [STEPTIME, "guide", "--accept", "--port", "0", "--no-open", "--json", "--store", store.root]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    yield json.loads(running.stdout.readline())["url"]
    running.terminate()
    running.wait(20)


def push(store, *words, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "STEPTIME_TOKEN"} | variables
    command = [STEPTIME, "push", *words, "--store", store.root]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


@pytest.mark.real
def test_push_sends_a_store_and_goes_on_where_it_was(store, served, tmp_path):
    mine = Store(tmp_path / "mine")
    mine.put(measured())
    mine.put(FAILED)
    mine.put_all([replace(FAILED, id=f"r{i}") for i in range(1200)])
    folder = mine.root / "sweeps" / "s1" / f"mlp-pytorch-training-{case_key(FAILED.case)[:10]}"
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("what it printed")
    assert push(mine, served, "--where", "status=ok").stdout.endswith("1 new, 0 already there\n")
    done = push(mine, served, "--json")
    assert json.loads(done.stdout) | {"url": ""} == {
        "url": "", "records": 1202, "stored": 1201, "known": 1, "logs": 1, "refused": [],
    }  # fmt: skip
    assert stored(store) == stored(mine)
    assert log_path(store, FAILED).read_text() == "what it printed"
    base, _, token = served.partition("/guide?token=")
    (tmp_path / "token").write_text(token + "\n")
    assert push(mine, base, "--token-file", tmp_path / "token", "--last", "3").stdout.endswith("0 new, 3 already there\n")
    assert push(mine, base, STEPTIME_TOKEN=token).returncode == 0
    (changed,) = [path for path in mine.paths() if path.stem == FAILED.id]
    changed.write_bytes(msgspec.json.encode(replace(FAILED, message="differs")))
    refused = push(mine, served)
    assert refused.returncode == 1 and FAILED.id in refused.stderr
    assert stored(store)[FAILED.id] == FAILED


@pytest.mark.real
def test_what_goes_wrong_with_push_is_one_line_and_exit_2(store, served, tmp_path):
    mine = Store(tmp_path / "mine")
    mine.put(FAILED)
    base = served.partition("/guide")[0]
    wrong = {
        ("http://127.0.0.1:9", "--token", "12345678"): "nothing listens there",
        (base, "--token", "12345678"): "wrong token",
        (base,): "a token is needed",
        (base, "--token-file", "/nonexistent"): "cannot read",
        ("http://nobody.invalid", "--token", "12345678"): "no such host",
        ("nonsense", "--token", "12345678"): "not the address",
        (served, "--where", "status=ok"): "no records to send",
        (served, "--where", "colour=red"): "unknown column",
    }
    for words, expected in wrong.items():
        done = push(mine, *words)
        assert done.returncode == 2 and done.stdout == ""
        assert expected in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert stored(store) == {}

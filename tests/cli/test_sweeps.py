"""status, cancel, archive, batch limits, retries: a sweep's life from the command line."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steptime.store.files import Store

pytestmark = pytest.mark.usefixtures("known_machine")
FAKE = ["-B", "fake", "--phase", "training"]


def start(*arguments):
    command = [Path(sys.executable).with_name("steptime"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy())


def wait_for(check, seconds=120):
    until = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.1)
    return found


@pytest.mark.slow
def test_status_shows_a_running_sweep_and_cancel_ends_it(inside):
    slow = ["-b", "sleep=true", "-b", "step_ms=20.0", "--max-steps", "100000", "--target", "1e-9"]
    controller = start("run", "mlp", "-n", "1,2,3", *FAKE, *slow)

    def measuring():
        rows = inside("status", "--json").json
        return rows and rows[0]["running"] and rows[0]["running"]["mean_speed"] and rows[0]

    (row) = wait_for(measuring)
    assert (row["state"], row["total"], row["done"], row["waiting"]) == ("running", 3, 0, 2)
    assert row["running"]["pid"] == controller.pid
    assert "samples/s" in inside("status").out
    again = inside("resume", row["sweep"])
    assert again.code == 2
    assert f"already running (process {controller.pid}" in again.err
    assert "is cancelled" in inside("cancel").out
    controller.communicate(timeout=60)
    assert controller.returncode == 130
    (row,) = inside("status", "--json").json
    assert (row["state"], row["running"]) == ("interrupted", None)
    assert "is not running" in inside("cancel").err


def test_resume_goes_on_with_the_newest_sweep_or_a_named_one(inside):
    inside("run", "mlp", "-n", "1,2", *FAKE)
    (row,) = inside("status", "--json").json
    assert row["state"] == "finished"
    assert len(inside("resume", "--json").json) == 2
    assert inside("resume", row["sweep"]).code == 0
    assert "unknown sweep 'nothing'" in inside("resume", "nothing").err
    assert len(inside("list", "--json").json) == 2


@pytest.mark.slow
def test_retry_runs_only_what_it_names_again(inside):
    options = ["run", "mlp", *FAKE, "-b", "failure=raise,garbage", "-b", "fail_at=2"]
    assert inside(*options).code == 1
    assert inside(*options, "--retry", "failed").code == 1
    statuses = [row["status"] for row in inside("list", "--json").json]
    assert sorted(statuses) == ["crash", "crash", "ok"]
    assert inside("resume", "--retry", "all").code == 1
    assert len(inside("list", "--json").json) == 5
    assert "known: all, contended, failed" in inside("resume", "--retry", "some").err


@pytest.mark.slow
def test_contended_cases_are_measured_again_at_the_end(inside):
    done = inside("run", "mlp", "-n", "1,2", *FAKE, "-b", "verdict=contended", "--contended-rounds", "2")
    assert done.code == 0
    assert done.err.count("measuring 2 contended cases again") == 2
    assert re.findall(r"^\[.*?\]", done.err, re.M) == ["[1/2]", "[2/2]", *["[again 1/2]", "[again 2/2]"] * 2]
    assert "\n2 cases of sweep " in done.out
    assert len(inside("list", "--json").json) == 6
    assert len([line for line in done.out.splitlines() if line.startswith("mlp")]) == 2


def test_batches_beyond_an_out_of_memory_are_recorded_without_an_attempt(inside):
    done = inside("run", "mlp", "-n", "8,16,32,64", *FAKE, "-b", "largest=10", "--json")
    assert done.code == 1
    assert [row["status"] for row in done.json] == ["ok", "out_of_memory", "out_of_memory", "out_of_memory"]
    assert done.json[3]["message"] == "not run: batch 16 of the same configuration ran out of memory"


@pytest.mark.slow
def test_the_largest_batch_is_found_and_measured(inside, home):
    done = inside("run", "mlp", "-n", "4", *FAKE, "-b", "largest=13", "--find-max-batch", "--json")
    assert done.code == 0, done.err
    assert [row["effective_batch"] for row in done.json] == [13]
    tries = inside("list", "-w", "status=out_of_memory", "--json").json
    assert {row["replica_batch"] for row in tries} == {14, 16}
    assert len(list(home.glob("store/sweeps/*/fork-server"))) == 1, "all tries are forks of one interpreter"


def test_there_is_no_largest_batch_of_a_case_that_fails_otherwise(inside):
    done = inside("run", "mlp", *FAKE, "-b", "failure=raise", "--find-max-batch")
    assert done.code == 1
    assert "no largest batch: crash" in done.err


@pytest.mark.slow
def test_archived_records_are_out_of_the_way_and_come_back(inside, home):
    inside("run", "mlp", "-n", "1,2", *FAKE)
    (row,) = inside("status", "--json").json
    inside("run", "lenet", *FAKE)
    assert "2 records are now in" in inside("archive", row["sweep"]).out
    assert len(inside("list", "--json").json) == 1
    place = home / "store" / "archived" / row["sweep"]
    assert len(inside("list", "--json", "--store", place).json) == 2
    assert str(place) in inside("archive").out
    assert inside("archive", "--restore", row["sweep"]).code == 0
    assert len(inside("list", "--json").json) == 3
    assert inside("resume", row["sweep"]).code == 0
    assert "unknown archived sweep" in inside("archive", "--restore", "x").err


@pytest.mark.real
def test_five_hundred_cases_survive_crashes_hangs_and_three_deaths_of_the_controller(steptime, home, tmp_path):
    """10% crash, 2% hang, workers are killed at random, the controller thrice; then exactly 500 records count."""
    import random
    import signal
    from collections import Counter

    from steptime.store.files import Store
    from steptime.sweep.verdicts import best_of

    plan = tmp_path / "chaos.toml"
    plan.write_text(
        """
        [constants]
        model = "mlp"
        backend = "fake"
        phase = "training"
        backend_options.fail_at = 5
        [axes]
        seed = [{}]
        [[override]]
        when = "seed % 10 == 3"
        set = {{ backend_options.failure = "segv" }}
        [[override]]
        when = "seed % 50 == 7"
        set = {{ backend_options.failure = "hang", budget.limit_seconds = 1.5 }}
        [[override]]
        when = "seed % 5 == 1"
        set = {{ backend_options.sleep = true, backend_options.step_ms = 2.0, budget.max_steps = 50 }}
        """.format(", ".join(map(str, range(1, 501))))
    )
    chance = random.Random(7)
    command = ["run", str(plan), "--heartbeat-seconds", "5", "--no-wait"]
    store = Store(home / "store")
    killed = set()
    for death in (60, 200, 350):
        controller = start(*command)
        while len(store.paths()) < death and controller.poll() is None:
            time.sleep(chance.random())
            for pid in _workers(home):
                if chance.random() < 0.1:
                    killed.add(pid)
                    _kill(pid)
        controller.send_signal(signal.SIGKILL)
        controller.communicate()
    assert steptime(*command, timeout=900).code == 1
    records, damaged = store.read()
    assert damaged == []
    assert not list(store.records_folder.glob("*/*/.*"))
    counted = best_of(records)
    assert len(counted) == 500
    finals = Counter(record.id for record in records if record.status != "cancelled")
    assert sum(finals.values()) == 500 and set(finals.values()) == {1}
    for record in counted.values():
        seed = record.case.seed
        if seed % 50 == 7:
            assert (record.status, record.message) in (("timeout", "not done after 1.5 s"), ("crash", "killed by SIGKILL"))
        elif seed % 10 == 3:
            assert (record.status, record.failure.signal) in (("crash", "SIGSEGV"), ("crash", "SIGKILL"))
        else:
            assert record.status == "ok" or record.failure.signal == "SIGKILL"
    assert sum(r.failure.signal == "SIGKILL" for r in counted.values() if r.failure) <= len(killed)


def _workers(home):
    """Forked workers of this store: children of the fork server."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"--fork-server" in (path / "cmdline").read_bytes() and str(home).encode() in (path / "cmdline").read_bytes():
                yield from map(int, (path / "task" / path.name / "children").read_text().split())
        except OSError:
            continue


def _kill(pid):
    import contextlib

    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)


def test_no_verb_reads_the_whole_store_to_answer_for_a_sweep(inside, monkeypatch):
    inside("run", "mlp", "-n", "1,2", *FAKE)
    first, second = (row["id"] for row in inside("list", "--json").json)
    (row,) = inside("status", "--json").json

    def refuse(self):
        raise AssertionError("every record was read")

    monkeypatch.setattr(Store, "read", refuse)
    assert "same case measured before" in inside("run", "mlp", "-n", "1,2", *FAKE, "--dry-run").out
    assert inside("status", "--json").json == [row]
    assert inside("status", "--watch").code == 0
    assert len(inside("resume", "--json").json) == 2
    assert "continuing sweep" in inside("run", "mlp", "-n", "1,2", *FAKE, "--resume").err
    assert inside("compare", first, second).code == 0
    assert "is not running" in inside("cancel").err
    assert "2 records are now in" in inside("archive", row["sweep"]).out
    assert "2 records are back in" in inside("archive", "--restore", row["sweep"]).out

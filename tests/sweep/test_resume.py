"""The controller may be killed at any moment; finished cases are never measured twice."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from steptime.core.schema import case_key
from steptime.store.files import Store
from steptime.sweep import live

pytestmark = pytest.mark.usefixtures("known_machine")
COMMAND = ["run", "mlp", "-n", "1,2,3", "-B", "fake", "--phase", "training"]
PLAN = """
[constants]
model = "mlp"
backend = "fake"
phase = "training"
[axes]
batch = [1, 2, 3]
[[override]]
when = "batch == 2"
set = { backend_options = { sleep = true, step_ms = 25.0 }, budget = { target = 1e-9, max_steps = 120 } }
"""


@pytest.fixture
def plan(tmp_path):
    """Its second case takes three seconds."""
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def store(home):
    return Store(home / "store")


def start(*arguments):
    command = [Path(sys.executable).with_name("steptime"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy())


def wait_until(true, seconds=120):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def workers(home):
    return [
        p for p in Path("/proc").glob("[0-9]*/cmdline") if f"{home}/store".encode() in _bytes(p) and b"worker.pyz" in _bytes(p)
    ]


def _bytes(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def good(store):
    return Counter(case_key(r.case) for r in store.read()[0] if r.status == "ok")


def in_the_second_case(store):
    """Whether its steps are being measured."""
    now = [live.read(folder) for folder in store.root.glob("sweeps/*")]
    return any(found and "batch 2" in found.case and found.mean_speed for found in now)


@pytest.mark.slow
def test_a_killed_controller_takes_its_worker_along_and_is_resumed(inside, store, home, plan):
    controller = start("run", plan)
    wait_until(lambda: in_the_second_case(store))
    controller.kill()
    controller.communicate()
    wait_until(lambda: not workers(home))
    assert list(good(store).values()) == [1]
    assert inside("run", plan, "--resume").code == 0
    assert sorted(good(store).values()) == [1, 1, 1]
    cancelled = [r for r in store.read()[0] if r.status == "cancelled"]
    assert [r.message for r in cancelled] == ["steptime stopped while this case ran"]


def test_resuming_a_finished_sweep_measures_nothing(inside, store):
    assert inside(*COMMAND).code == 0
    again = inside(*COMMAND, "--resume", "--json")
    assert again.code == 0
    assert len(again.json) == 3
    assert sorted(good(store).values()) == [1, 1, 1]


@pytest.mark.slow
def test_the_same_command_goes_on_where_an_interrupted_one_ended(inside, store):
    assert inside(*COMMAND).code == 0
    last = sorted(store.paths())[-1]
    last.unlink()
    (folder,) = [p.parent for p in store.root.glob("sweeps/*/*/job.json") if last.stem in p.read_text()]
    (folder / "record.json").unlink()
    done = inside(*COMMAND)
    assert "continuing sweep" in done.err
    assert sorted(good(store).values()) == [1, 1, 1]
    assert len(list(store.root.glob("sweeps/*/sweep.json"))) == 1
    assert inside(*COMMAND, "--new").code == 0
    assert sorted(good(store).values()) == [2, 2, 2]


@pytest.mark.slow
def test_without_resume_the_same_command_measures_again(inside, store):
    assert inside(*COMMAND).code == inside(*COMMAND).code == 0
    assert sorted(good(store).values()) == [2, 2, 2]


def test_a_record_that_the_worker_finished_after_the_controller_died_is_not_lost(inside, store):
    assert inside(*COMMAND).code == 0
    store.paths()[0].unlink()  # as if the controller had died between the worker's end and the store
    assert inside(*COMMAND, "--resume").code == 0
    assert sorted(good(store).values()) == [1, 1, 1]
    assert not [r for r in store.read()[0] if r.status != "ok"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_finished_and_exits_130(store, home, plan, number):
    controller = start("run", plan)
    wait_until(lambda: in_the_second_case(store))
    controller.send_signal(number)
    _, errors = controller.communicate(timeout=60)
    assert controller.returncode == 130
    assert "interrupted" in errors and "Traceback" not in errors
    statuses = Counter(r.status for r in store.read()[0])
    assert statuses == {"ok": 1, "cancelled": 1}
    assert not workers(home)


@pytest.mark.slow
def test_two_runs_in_the_same_folder_lose_nothing(store, home):
    both = [start("run", "mlp", "-n", f"{n},{n + 1}", "-B", "fake", "--phase", "training") for n in (1, 3)]
    for each in both:
        each.communicate(timeout=60)
        assert each.returncode == 0
    assert sorted(good(store).values()) == [1, 1, 1, 1]

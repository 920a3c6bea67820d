"""Work shared out to processes beside this one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from steptime.store.process_pool import outcomes


def squared(number: int) -> tuple[int, int]:
    print("something that is no answer")
    return number * number, os.getpid()


def slowly(number: int) -> tuple[int, int]:
    time.sleep(0.05)
    return squared(number)


def only_here(number: int, here: int) -> int:
    """In any other process it ends as a crash does."""
    if os.getpid() != here:
        os._exit(3)
    time.sleep(0.05)
    return number


def refusing(number: int) -> int:
    raise ValueError(f"no {number}")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))  # so that this module's functions are found elsewhere


# Long enough for a process to start on a busy machine.
@pytest.mark.slow
@pytest.mark.parametrize(("processes", "count"), [(1, 10), (2, 100), (4, 100)])
def test_outcomes_come_in_order_whoever_found_them(processes, count):
    found = list(outcomes(slowly, range(count), processes))
    assert [square for square, _ in found] == [number * number for number in range(count)]
    pids = {pid for _, pid in found}
    assert os.getpid() in pids and (len(pids) > 1) == (processes > 1)


def test_what_a_process_dies_of_is_done_here():
    assert list(outcomes(partial(only_here, here=os.getpid()), range(12), 3)) == list(range(12))


def test_an_error_of_a_share_is_raised_here():
    with pytest.raises(ValueError, match=r"no \d"):
        list(outcomes(refusing, range(12), 3))


def test_who_stops_asking_leaves_no_process():
    asked = outcomes(slowly, range(10_000), 3)
    next(asked)
    while not (running := beside()):
        next(asked)
    asked.close()
    deadline = time.monotonic() + 30
    while running & beside():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def beside() -> set[int]:
    """The processes that this one has started for such work and that have not ended."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"steptime.store.process_pool" in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
    return found


def test_a_script_without_a_main_guard_may_share_out(tmp_path):
    script = tmp_path / "script.py"
    program = (
        "import math; from steptime.store.process_pool import outcomes; print(sum(outcomes(math.sqrt, [4.0, 9.0, 16.0], 3)))"
    )
    script.write_text(program)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("9.0\n", "")

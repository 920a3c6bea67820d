"""Threads that work are counted by their CPU time."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from steptime.core.machine.cpus import busy_threads, thread_seconds

DATA = bytes(64 << 20)


def work(together):
    """Hashing large data lets other threads run."""
    together.wait()
    for _ in range(4):
        hashlib.sha256(DATA).digest()


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_that_work_are_counted_and_idle_ones_are_not(threads):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Barrier.wait, [Barrier(4)] * 4))  # all four threads exist
        before = thread_seconds()
        list(pool.map(work, [Barrier(threads)] * threads))
        assert busy_threads(before, thread_seconds()) == threads


def test_threads_that_are_born_meanwhile_count():
    assert busy_threads({1: 5.0}, {1: 5.0, 2: 1.0, 3: 0.9, 4: 0.01}) == 2


def test_nothing_is_said_of_too_short_a_time():
    assert busy_threads({1: 5.0}, {1: 5.001}) is None
    assert busy_threads({}, {}) is None

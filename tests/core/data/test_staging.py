"""A data set is copied once, whole, and removed by the last who used it."""

import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from steptime.core.data.dataset import read_split, splits_in
from steptime.core.data.places import checked_data, store_folder
from steptime.core.data.staging import staged
from steptime.core.errors import DataError, UnknownName, Unsupported
from tests.core.data.idx import write_set


@pytest.fixture
def split(tmp_path):
    write_set(tmp_path / "set")
    return splits_in(tmp_path / "set")["train"]


@pytest.fixture
def store(tmp_path):
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@contextmanager
def alarm(seconds):
    def ring(*_):
        raise AssertionError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_copy_is_the_same_and_is_gone_afterwards(split, store):
    with staged(split, "scratch", store) as (copy, staging):
        assert copy.images.parent.parent == store
        assert copy.images.read_bytes() == split.images.read_bytes()
        assert staging.copied and staging.bytes == 18832 + 32 and staging.seconds > 0
    assert list(store.iterdir()) == []


def test_a_second_user_shares_the_copy_and_the_last_one_removes_it(split, store):
    first = staged(split, "scratch", store)
    copy, _ = first.__enter__()
    with staged(split, "scratch", store) as (same, staging):
        assert same == copy and not staging.copied
        first.__exit__(None, None, None)
        assert same.images.exists()
    assert list(store.iterdir()) == []


def test_a_copy_that_a_killed_worker_left_is_used_and_then_removed(split, store):
    script = (
        "import os, sys, signal; from pathlib import Path; from steptime.core.data.staging import staged\n"
        "from steptime.core.data.dataset import splits_in\n"
        "with staged(splits_in(Path(sys.argv[1]))['train'], 's', Path(sys.argv[2])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script, split.images.parent, store])
    assert any(store.iterdir())
    with staged(split, "s", store) as (_, staging):
        assert not staging.copied
    assert list(store.iterdir()) == []


def test_many_at_once_copy_once(split, store):
    script = (
        "import sys, time; from pathlib import Path; from steptime.core.data.staging import staged\n"
        "from steptime.core.data.dataset import splits_in\n"
        "with staged(splits_in(Path(sys.argv[1]))['train'], 's', Path(sys.argv[2])) as (_, staging):\n"
        "    print(staging.copied, flush=True)\n"
        "    sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, split.images.parent, store]
    users = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = sorted(user.stdout.readline().strip() for user in users)
    for user in users:
        user.communicate()
    assert said == ["False", "False", "False", "True"]
    assert list(store.iterdir()) == []


def test_who_comes_while_another_copies_does_not_wait_for_the_users_to_leave(split, store, monkeypatch):
    """Ranks that share a copy wait for each other: one that waited until the others are done would wait for ever."""
    with staged(split, "s", store) as (copy, _):
        there, looked = Path.is_dir, []

        def is_dir(path):
            if path == copy.images.parent and not looked:
                looked.append(path)
                return False  # as it was a moment ago
            return there(path)

        monkeypatch.setattr(Path, "is_dir", is_dir)
        with alarm(20), staged(split, "s", store) as (same, staging):
            assert same == copy and not staging.copied and looked


def test_who_leaves_does_not_remove_the_copy_of_one_who_came_after_another_had_removed_it(split, store):
    first = staged(split, "s", store)
    copy, _ = first.__enter__()
    shutil.rmtree(copy.images.parent)  # as another does who leaves at the same moment
    next(store.glob("*.lock")).unlink()
    with staged(split, "s", store) as (same, staging):
        assert same == copy and staging.copied
        first.__exit__(None, None, None)
        assert same.images.exists()
    assert list(store.iterdir()) == []


def test_a_changed_source_is_another_copy(split, store):
    with staged(split, "s", store) as (before, _):
        time.sleep(0.01)
        os.utime(split.images)
        with staged(split, "s", store) as (after, staging):
            assert after != before and staging.copied


def test_compressed_files_are_unpacked(tmp_path, store):
    images, _ = write_set(tmp_path / "packed", packed=True)
    with staged(splits_in(tmp_path / "packed")["train"], "s", store) as (copy, staging):
        assert np.array_equal(read_split(copy).images[..., 0], images) and staging.bytes == 18832 + 32


@pytest.mark.parametrize("damage", [lambda b: b[:-20], lambda b: b"no gzip", lambda b: b[:60] + b"\0\0\0\0" + b[64:]])
def test_a_damaged_archive_is_one_line_and_leaves_nothing(tmp_path, store, damage):
    write_set(tmp_path / "packed", packed=True)
    path = tmp_path / "packed" / "train-images-idx3-ubyte.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match="is truncated or not gzip") as caught:
        staged(splits_in(tmp_path / "packed")["train"], "s", store).__enter__()
    assert "\n" not in str(caught.value)
    assert [p.name for p in store.iterdir() if not p.name.endswith(".lock")] == []


def test_plain_files_may_be_read_where_they_are(split):
    with staged(split, "here", split.images.parent) as (copy, staging):
        assert copy == split and not staging.copied
    assert split.images.exists()


def test_a_store_without_room_is_unsupported(split, store, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: namedtuple("Usage", "free")(10_000))
    with pytest.raises(Unsupported, match="it takes 0 MB, and 0 MB are free"):
        staged(split, "s", store).__enter__()


def test_stores_are_what_the_environment_says(tmp_path):
    assert store_folder("scratch", {"SCRATCH": str(tmp_path)}) == tmp_path
    assert store_folder("burst-buffer", {"BURST_BUFFER": str(tmp_path)}) == tmp_path
    assert store_folder("dram", {}) == Path("/dev/shm")
    assert store_folder(str(tmp_path), {}) == tmp_path
    with pytest.raises(Unsupported, match=r"data store local: \$LOCAL is not set here"):
        store_folder("local", {})
    with pytest.raises(Unsupported, match=r"\$LOCAL is /nowhere, which is not a directory"):
        store_folder("local", {"LOCAL": "/nowhere"})


def test_names_of_data_are_checked_and_folders_become_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPTIME_DATA", str(tmp_path))
    (tmp_path / "own").mkdir()
    assert checked_data("own") == "own" and checked_data("./own") == str(tmp_path / "own")
    with pytest.raises(UnknownName, match="unknown data 'imagenet'; known: mnist, own, synthetic"):
        checked_data("imagenet")


def test_archives_of_nothing_are_refused(tmp_path, store):
    write_set(tmp_path / "packed", packed=True)
    (tmp_path / "packed" / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(b""))
    with staged(splits_in(tmp_path / "packed")["train"], "s", store) as (copy, _):
        with pytest.raises(DataError, match="begins with nothing"):
            read_split(copy)

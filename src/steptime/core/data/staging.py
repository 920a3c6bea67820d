"""Copies a data set to the place it is read from, once, whole or not at all; the last user removes the copy.

A process that uses a copy holds a shared lock beside it; one that makes or removes it holds the lock exclusively. The next worker
uses and removes a copy that a killed one left behind. Compressed files are unpacked on the way: steps read images, not archives.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import os
import random
import shutil
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from steptime.core.data.dataset import Split
from steptime.core.errors import DataError, Unsupported
from steptime.core.schema import Staging

CHUNK_BYTES = 1 << 20
PREFIX = "steptime-data-"
LONGEST_PAUSE_SECONDS = 0.05


@contextlib.contextmanager
def staged(split: Split, store: str, target: Path) -> Iterator[tuple[Split, Staging]]:
    """The split's copy under `target` for as long as this lasts, and what staging took."""
    began = time.perf_counter()
    if target == split.images.parent and not _packed(split):
        yield split, Staging(store, str(target), _bytes(split), 0.0, copied=False)
        return
    folder = target / f"{PREFIX}{identity(split)}"
    with _held(split, folder) as (lock, copied):
        copy = Split(*(folder / _plain_name(path) for path in split.paths))
        staging = Staging(store, str(folder), _bytes(copy), time.perf_counter() - began, copied)
        try:
            yield copy, staging
        finally:
            _remove_if_last(folder, lock)


def identity(split: Split) -> str:
    """Changes when a source file does."""
    content = "\n".join(f"{p.resolve()} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in split.paths)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _packed(split: Split) -> bool:
    return any(path.suffix == ".gz" for path in split.paths)


def _plain_name(path: Path) -> str:
    return path.name[: -len(".gz")] if path.suffix == ".gz" else path.name


def _bytes(split: Split) -> int:
    return sum(path.stat().st_size for path in split.paths)


@contextlib.contextmanager
def _held(split: Split, folder: Path) -> Iterator[tuple[int, bool]]:
    """The lock beside a copy that is there, shared with its other users, and whether we made the copy ourselves.

    No process waits while it holds a lock, or waits for an exclusive one: users of a copy may be ranks that wait for each other.
    """
    path, copied = folder.with_name(f"{folder.name}.lock"), False
    while True:
        made = False
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _flock(descriptor, fcntl.LOCK_SH)
            if _same_file(descriptor, path):  # else it was removed under us
                if folder.is_dir():
                    yield descriptor, copied
                    return
                made = _copied_alone(split, folder, descriptor, path)
                copied = copied or made
        finally:
            os.close(descriptor)  # and with it the lock
        if not made:  # staging time is a result: a process that copied does not wait
            time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))


def _copied_alone(split: Split, folder: Path, descriptor: int, path: Path) -> bool:
    """Makes the copy, unless another process does. On file systems without locks copies are whole too, but stay behind."""
    with contextlib.suppress(OSError):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    if folder.is_dir() or not _same_file(descriptor, path):
        return False
    _copy(split, folder)
    return True


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _flock(descriptor: int, how: int) -> bool:
    """Whether we have it."""
    try:
        fcntl.flock(descriptor, how)
        return True
    except OSError:
        return False


def _copy(split: Split, folder: Path) -> None:
    _check_room(split, folder.parent)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        temporary.mkdir()
        for path in split.paths:
            _copy_file(path, temporary / _plain_name(path))
        os.rename(temporary, folder)
    except OSError as problem:
        if not folder.is_dir():  # without locks another may have been quicker
            raise Unsupported(f"cannot stage data to {folder.parent}: {problem.strerror}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_room(split: Split, target: Path) -> None:
    needed, free = _bytes(split), shutil.disk_usage(target).free
    if needed > free:
        raise Unsupported(f"cannot stage data to {target}: it takes {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free")


def _copy_file(source: Path, target: Path) -> None:
    try:
        with gzip.open(source, "rb") if source.suffix == ".gz" else open(source, "rb") as reader, open(target, "wb") as writer:
            shutil.copyfileobj(reader, writer, CHUNK_BYTES)
            writer.flush()
            os.fsync(writer.fileno())
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise DataError(f"{source} is truncated or not gzip: {problem}") from None


def _remove_if_last(folder: Path, lock: int) -> None:
    """Unless another process has just removed it: what is there then may be a new copy."""
    path = folder.with_name(f"{folder.name}.lock")
    if _flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB) and _same_file(lock, path):
        shutil.rmtree(folder, ignore_errors=True)
        path.unlink(missing_ok=True)

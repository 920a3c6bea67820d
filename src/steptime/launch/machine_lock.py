"""One measurement at a time on a machine: two at once would disturb each other."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.2


def lock_path() -> Path:
    """Per user and machine; the kernel releases the lock whatever happens to its holder."""
    return Path(tempfile.gettempdir()) / f"steptime-{os.getuid()}.lock"


@contextmanager
def machine_lock(wait: bool, on_wait: Callable[[], None]) -> Iterator[None]:
    """Holds the machine's lock. Calls `on_wait` once if somebody else holds it; without `wait`, goes ahead without the lock."""
    if not wait:
        yield
        return
    with open(lock_path(), "a") as lock:
        if not _take(lock.fileno()):
            on_wait()
            while not _take(lock.fileno()):
                time.sleep(POLL_SECONDS)
        yield


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

"""Which process runs a sweep, and how far it is: a lock that dies with its holder, and a small file for `steptime status`."""

from __future__ import annotations

import fcntl
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from steptime.core.errors import UsageError
from steptime.core.schema import Case, Record
from steptime.store.columns import case_words

LOCK, LIVE = "lock", "live.json"
WRITE_SECONDS = 0.5


@dataclass(frozen=True)
class Live:
    pid: int
    host: str
    case: str = ""
    """the current case, in words"""
    phase: str = ""
    mean_speed: float | None = None
    uncertainty: float | None = None
    jitter: float | None = None
    step: int = 0
    again_number: int = 0
    again_total: int = 0
    """which of how many contended cases is being measured again; 0: none is"""


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Holds the lock of a sweep: only one process may run it."""
    with open(folder / LOCK, "a") as lock:
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"sweep {folder.name} is already running{_by(folder)}; see `steptime status`") from None
        try:
            yield
        finally:
            (folder / LIVE).unlink(missing_ok=True)


def _by(folder: Path) -> str:
    live = read(folder)
    return f" (process {live.pid} on {live.host})" if live else ""


def running(folder: Path) -> bool:
    try:
        with open(folder / LOCK) as lock:
            fcntl.flock(lock.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def read(folder: Path) -> Live | None:
    try:
        return msgspec.json.decode((folder / LIVE).read_bytes(), type=Live)
    except (OSError, msgspec.DecodeError):
        return None


class LiveFile:
    """Writes the progress at most a few times a second. Nothing depends on the file."""

    def __init__(self, folder: Path) -> None:
        self._path, self._last = folder / LIVE, 0.0
        self.host = platform.node()
        self._live = Live(os.getpid(), self.host)

    def case_begins(self, case: Case) -> None:
        again = self._live.again_total
        number = self._live.again_number + 1 if again else 0
        self._live = Live(os.getpid(), self.host, case_words(case), "starting", again_number=number, again_total=again)
        self._write(force=True)

    def event(self, event: dict[str, Any]) -> None:
        if event.get("event") == "phase":
            self._live = replace(self._live, phase=str(event.get("name")))
        elif event.get("event") == "progress":
            known: dict[str, Any] = {key: event.get(key) for key in ("mean_speed", "uncertainty", "jitter", "step")}
            self._live = replace(self._live, **known)
        self._write()

    def case_ends(self, record: Record) -> None:
        self._live = Live(os.getpid(), self.host, again_number=self._live.again_number, again_total=self._live.again_total)
        self._write(force=True)

    def measures_again(self, cases: int) -> None:
        self._live = Live(os.getpid(), self.host, again_total=cases)
        self._write(force=True)

    def _write(self, force: bool = False) -> None:
        now = time.monotonic()
        if force or now - self._last > WRITE_SECONDS:
            self._last = now
            temporary = self._path.with_suffix(".tmp")
            try:
                temporary.write_bytes(msgspec.json.encode(asdict(self._live)))
                temporary.replace(self._path)
            except OSError:
                pass  # a full disk must not end a measurement only because its progress cannot be shown

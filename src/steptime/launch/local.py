"""Runs one worker on this machine: starts it, reads its events, and survives its end."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgspec

from steptime.core.atomic import write_text
from steptime.core.machine.describe import describe
from steptime.core.machine.memory import usable_bytes
from steptime.core.schema import Failure, FailureCause, Job, Record, Status, timestamp, to_json
from steptime.core.worker.exit_cause import exit_cause, signal_name
from steptime.launch.fork_server import Child, ForkServer
from steptime.launch.job_folder import put_worker

LOG = "log.txt"
HEARTBEAT_SECONDS = 30.0
LOG_LIMIT_BYTES = 256 << 20
GRACE_SECONDS = 2.0
TICK_SECONDS = 0.2
TAIL_LINES, TAIL_COLUMNS = 15, 300
KILLED_FOR_MEMORY_SHARE = 0.8
EVENTS_VARIABLE = "STEPTIME_EVENTS_FD"

Watch = Callable[[dict[str, Any]], None]
Process = subprocess.Popen[bytes] | Child


@dataclass
class Ending:
    """How a worker's process ended."""

    exit_code: int | None = None
    stopped_for: FailureCause | None = None
    """why we ended it ourselves, or could not start it"""
    rss_bytes: int = 0
    """the highest value in its heartbeats"""
    problem: str = ""
    """why the worker could not leave a record, as it reported"""


@dataclass
class _Listener:
    """Reads the event pipe; anything that is not an event is dropped."""

    descriptor: int
    watch: Watch
    last_beat: float = field(default_factory=time.monotonic)
    rss_bytes: int = 0
    problem: str = ""
    closed: bool = False
    """by the worker, which may still run"""
    _rest: bytes = b""

    def poll(self) -> None:
        ready, _, _ = select.select([self.descriptor], [], [], TICK_SECONDS)
        data = os.read(self.descriptor, 1 << 16) if ready else b""
        self.closed = bool(ready) and not data
        self._feed(data)

    def drain(self) -> None:
        """Reads all events that are left."""
        os.set_blocking(self.descriptor, False)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.descriptor, 1 << 16):
                self._feed(data)

    def _feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-(1 << 16) :]
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return
        if isinstance(event, dict):
            self.last_beat = time.monotonic()
            self.rss_bytes = max(self.rss_bytes, int(event.get("rss_bytes", 0)))
            if event.get("event") == "problem":
                self.problem = str(event.get("message"))
            self.watch(event)


def run_worker(
    job: Job,
    folder: Path,
    shared: Path,
    python: Path,
    watch: Watch,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
    fork_server: ForkServer | None = None,
) -> Ending:
    """Runs the job to its end in `folder`. KeyboardInterrupt ends the worker too, and is passed on."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "job.json", to_json(job))
    worker = put_worker(folder, shared)
    with open(folder / LOG, "ab") as log:
        reader, writer = os.pipe()
        try:
            process = (fork_server and fork_server.spawn(folder, log, writer)) or _start(python, worker, folder, log, writer)
        except OSError as problem:
            os.close(reader)
            return Ending(stopped_for=FailureCause(Status.LAUNCH_FAILED, f"{python}: {problem.strerror}"))
        finally:
            os.close(writer)
        listener = _Listener(reader, watch)
        try:
            stopped_for = _follow(process, listener, job, folder, heartbeat_seconds)
            listener.drain()
        finally:
            _end(process)
            os.close(reader)
    return Ending(process.returncode, stopped_for, listener.rss_bytes, listener.problem)


def _start(python: Path, worker: Path, folder: Path, log: IO[bytes], writer: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [python, worker, folder],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=folder,
        env={**os.environ, EVENTS_VARIABLE: str(writer)},
        pass_fds=(writer,),
        start_new_session=True,  # Ctrl-C in the terminal must reach us only; we end the worker
    )


def _follow(process: Process, listener: _Listener, job: Job, folder: Path, heartbeat_seconds: float) -> FailureCause | None:
    """Returns when the process has ended (None) or must be ended (why)."""
    began = time.monotonic()
    while process.poll() is None:
        listener.poll()
        if listener.closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(TICK_SECONDS)
        now = time.monotonic()
        if now - began > job.case.budget.limit_seconds:
            return FailureCause(Status.TIMEOUT, f"not done after {job.case.budget.limit_seconds:g} s")
        if now - listener.last_beat > heartbeat_seconds:
            return FailureCause(Status.TIMEOUT, f"no heartbeat for {heartbeat_seconds:g} s{_state(process.pid)}")
        if (folder / LOG).stat().st_size > LOG_LIMIT_BYTES:
            return FailureCause(Status.CRASH, f"wrote more than {LOG_LIMIT_BYTES >> 20} MiB to its log")
    return None


def _state(pid: int) -> str:
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
    return {"T": " (the process is stopped)", "D": " (the process waits for a disk or device)"}.get(letter, "")


def _end(process: Process) -> None:
    """Ends the worker and all processes that it started."""
    if process.poll() is None:
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    _signal(process.pid, signal.SIGKILL)
    process.wait()


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def record_of(job: Job, folder: Path, ending: Ending) -> Record:
    """The worker's own record if it left a whole one, else a failure."""
    path = folder / "record.json"
    if not path.exists():
        return failure(job, cause_of(ending), folder, ending)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except msgspec.DecodeError as problem:
        return failure(job, FailureCause(Status.CRASH, f"left an unreadable record: {problem}"), folder, ending)


def cause_of(ending: Ending) -> FailureCause:
    if ending.stopped_for:
        return ending.stopped_for
    if ending.problem:
        return FailureCause(Status.CRASH, ending.problem)
    code = ending.exit_code or 0
    if -code == signal.SIGKILL and ending.rss_bytes > KILLED_FOR_MEMORY_SHARE * usable_bytes():
        return FailureCause(Status.OUT_OF_MEMORY, f"killed by SIGKILL while using {ending.rss_bytes / 1e9:.1f} GB")
    return exit_cause(code)


def failure(job: Job, cause: FailureCause, folder: Path, ending: Ending) -> Record:
    code = ending.exit_code
    return Record(
        id=job.id,
        status=cause.kind,
        case=job.case,
        started=timestamp(),
        message=cause.message,
        sweep=job.sweep,
        machine=describe(),
        failure=Failure(code, signal_name(-code) if code and code < 0 else "", log_tail(folder / LOG)),
    )


def log_tail(path: Path) -> str:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, path.stat().st_size - 8192))
            lines = log.read().decode(errors="replace").splitlines()[-TAIL_LINES:]
            return "\n".join(line[:TAIL_COLUMNS] for line in lines)
    except OSError:
        return ""

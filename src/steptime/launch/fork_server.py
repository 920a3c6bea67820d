"""The controller's end of a fork server: an interpreter that has imported a framework and forks a worker per job."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from steptime.launch.job_folder import put_worker

READY_SECONDS = 120.0


@dataclass
class Child:
    """A worker that the fork server forked: not our child, so the fork server reports how it ended."""

    pid: int
    _line: socket.socket
    returncode: int | None = None

    def poll(self) -> int | None:
        return self._receive_code(0.0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._receive_code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        return code

    def _receive_code(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            answer = _receive(self._line, timeout)
            if answer is not None:
                self.returncode = int(answer.get("code", 1))
        return self.returncode


@dataclass
class ForkServer:
    """Started on first use. One that does not start, or dies, is `broken` and not used again."""

    python: Path
    backend: str
    environment: dict[str, str]
    folder: Path
    _process: subprocess.Popen[bytes] | None = None
    _line: socket.socket | None = field(default=None)
    broken: bool = False

    def spawn(self, folder: Path, log: IO[bytes], events: int) -> Child | None:
        """A worker on the job in `folder`; None if the caller must start one itself."""
        try:
            if self._line is None:
                self._start()
            assert self._line
            socket.send_fds(self._line, [json.dumps({"folder": str(folder)}).encode()], [log.fileno(), events])
            answer = _receive(self._line, READY_SECONDS)
        except OSError:
            answer = None
        if not answer or "pid" not in answer:
            self.broken = True
            self.close()
            return None
        assert self._line
        return Child(int(answer["pid"]), self._line)

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        worker = put_worker(self.folder, self.folder.parent)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(self.folder / "fork-server.log", "ab") as log:
            self._process = subprocess.Popen(
                [self.python, worker, "--fork-server", str(theirs.fileno()), self.backend],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._line = ours
        if not _receive(ours, READY_SECONDS):
            raise OSError("the fork server did not start")

    def close(self) -> None:
        if self._line:
            self._line.close()
            self._line = None
        if self._process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            self._process.kill()
            self._process.wait()
            self._process = None


@dataclass
class ForkServers:
    """Keeps the one that was used last, since the next case probably needs it too; `folder` is for its files."""

    folder: Path
    _key: tuple[Path, str, str] | None = None
    _current: ForkServer | None = None

    def get(self, python: Path, backend: str, environment: dict[str, str]) -> ForkServer | None:
        key = (python, backend, json.dumps(environment, sort_keys=True))
        if key != self._key:
            self.close()
            self._key, self._current = key, ForkServer(python, backend, environment, self.folder)
        return None if self._current is None or self._current.broken else self._current

    def close(self) -> None:
        if self._current:
            self._current.close()
        self._key = self._current = None


def _receive(line: socket.socket, timeout: float | None) -> dict[str, Any] | None:
    """One message; an empty one if the other end is gone; None after the timeout."""
    line.settimeout(timeout)
    try:
        data = line.recv(1 << 16)
    except (TimeoutError, BlockingIOError):
        return None
    content: dict[str, Any] = json.loads(data) if data else {}
    return content

"""Several processes that run one case: who they are, and how they agree.

A rank knows itself by RANK and WORLD_SIZE, or by the variables of srun; all meet at MASTER_ADDR and MASTER_PORT. The rendezvous
is a star of plain sockets around rank 0, apart from the framework's own connections: it works for every backend, and when a
rank fails, the others learn which one and why, instead of waiting for a collective that never ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from steptime.core.backends.base import Backend, RankInfo
from steptime.core.errors import CaseFailed, Unsupported
from steptime.core.machine.memory import memory_kills
from steptime.core.schema import Case, Status

NAMES = (("RANK", "LOCAL_RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"))
LONGEST_SILENCE_SECONDS = 300.0
LARGEST_MESSAGE_BYTES = 64 << 20
FAILED_RANK_SECONDS = 5.0


@dataclass(frozen=True)
class Rank:
    number: int
    local: int
    """on its node"""
    size: int
    address: str
    port: int


def rank_of(case: Case, environment: Mapping[str, str]) -> Optional[Rank]:
    """Which rank this process is; None if no ranks were started, or the case has only one."""
    if case.replicas == 1 or not (environment.get("MASTER_ADDR") and environment.get("MASTER_PORT")):
        return None
    for number, local, size in NAMES:
        if number in environment and size in environment:
            started = int(environment[size])
            if started != case.replicas:
                raise Unsupported(f"the case has {case.replicas} ranks, but {started} were started")
            address, port = environment["MASTER_ADDR"], int(environment["MASTER_PORT"])
            return Rank(int(environment[number]), int(environment.get(local, 0)), started, address, port)
    return None


def silence_seconds(case: Case) -> float:
    """How long a rank may keep the others waiting."""
    return min(LONGEST_SILENCE_SECONDS, max(5.0, case.budget.limit_seconds / 3))


class Rendezvous:
    """All ranks of a case. `gather` is also a barrier."""

    def __init__(self, rank: Rank, token: str, timeout_seconds: float) -> None:
        self.rank, self._token, self._timeout = rank, token, timeout_seconds
        self._lines: dict[int, socket.socket] = {}
        self._kills = memory_kills()
        self.framework_port = 0
        """on rank 0's node: for the framework's own rendezvous"""
        self._listener: Optional[socket.socket] = None
        """rank 0's, at that port: open from the start, so that no other process takes it while the framework is imported"""

    def open(self) -> None:
        if self.rank.number == 0:
            self._receive_all()
            self._listener = socket.create_server(("", 0), backlog=self.rank.size)
            self.framework_port = self._listener.getsockname()[1]
        else:
            self._lines[0] = self._connect()
        self.framework_port = int(self.gather(self.framework_port)[0])

    @property
    def connected(self) -> bool:
        return bool(self._lines)

    def take_listener(self) -> int:
        """The descriptor of rank 0's listening socket, which the caller closes; -1 on other ranks."""
        listener, self._listener = self._listener, None
        return listener.detach() if listener else -1

    def _receive_all(self) -> None:
        until = time.monotonic() + self._timeout
        with socket.create_server(("", self.rank.port), backlog=self.rank.size) as server:
            while len(self._lines) < self.rank.size - 1:
                server.settimeout(max(0.01, until - time.monotonic()))
                try:
                    line, _ = server.accept()
                except OSError:
                    missing = [str(n) for n in range(1, self.rank.size) if n not in self._lines]
                    raise CaseFailed(
                        Status.TIMEOUT, f"rank {', '.join(missing)} did not connect within {self._timeout:g} s"
                    ) from None
                line.settimeout(self._timeout)
                hello = _receive(line)
                if not isinstance(hello, dict) or hello.get("token") != self._token:
                    line.close()  # not a rank of this case
                    continue
                self._lines[int(hello["rank"])] = line

    def _connect(self) -> socket.socket:
        until = time.monotonic() + self._timeout
        while True:
            try:
                line = socket.create_connection((self.rank.address, self.rank.port), timeout=self._timeout)
                line.settimeout(self._timeout)
                _send(line, {"token": self._token, "rank": self.rank.number})
                return line
            except OSError as problem:
                if time.monotonic() > until:
                    raise CaseFailed(Status.TIMEOUT, f"rank 0 cannot be reached at {self.rank.address}: {problem}") from None
                time.sleep(0.1)

    def gather(self, value: Any) -> list[Any]:
        """The value of every rank, in their order. Returns when all have sent theirs."""
        if self.rank.number:
            self._send_to(0, value)
            return list(self._receive_from(0))
        values = [value, *(self._receive_from(number) for number in range(1, self.rank.size))]
        for number in self._lines:
            self._send_to(number, values)
        return values

    def fail(self, kind: Status, message: str) -> None:
        """Reports to the others why this rank sends nothing more."""
        for number in self._lines:
            self._send_to(number, {"failed": kind, "message": message})

    def failed_rank(self, seconds: float = FAILED_RANK_SECONDS) -> Optional[CaseFailed]:
        """After a collective of the framework broke on rank 0: the failure that another rank reports, or that it is gone."""
        numbers, until = {line: number for number, line in self._lines.items()}, time.monotonic() + seconds
        while numbers and (left := until - time.monotonic()) > 0:
            for line in select.select(list(numbers), [], [], left)[0]:
                try:
                    self._receive_from(numbers[line])
                except CaseFailed as problem:
                    return problem
        return None

    def _send_to(self, number: int, value: Any) -> None:
        with contextlib.suppress(OSError):  # a rank that is gone is noticed when we receive from it
            _send(self._lines[number], value)

    def _receive_from(self, number: int) -> Any:
        try:
            value = _receive(self._lines[number])
        except socket.timeout:
            raise CaseFailed(Status.TIMEOUT, f"rank {number} did not answer for {self._timeout:g} s") from None
        except (OSError, ValueError):
            raise self._gone(number) from None
        if isinstance(value, dict) and "failed" in value:
            raise CaseFailed(Status(value["failed"]), f"rank {number}: {value['message']}")
        return value

    def _gone(self, number: int) -> CaseFailed:
        if memory_kills() > self._kills:
            return CaseFailed(Status.OUT_OF_MEMORY, f"rank {number} was killed when the ranks had used up their memory")
        return CaseFailed(Status.CRASH, f"rank {number} ended without a message")


def _send(line: socket.socket, value: Any) -> None:
    content = json.dumps(value).encode()
    line.sendall(struct.pack(">I", len(content)) + content)


def _receive(line: socket.socket) -> Any:
    (length,) = struct.unpack(">I", _exactly(line, 4))
    if length > LARGEST_MESSAGE_BYTES:
        raise ValueError("not one of ours")
    return json.loads(_exactly(line, length))


def _exactly(line: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = line.recv(count - len(parts))
        if not part:
            raise ConnectionError("closed")
        parts += part
    return parts


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("", 0))
        return int(trial.getsockname()[1])


def local_environment(number: int, size: int, port: int) -> dict[str, str]:
    """The environment of one of several ranks on this machine."""
    names = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return {**os.environ, **{name: str(value) for name, value in names.items()}}


def join(backend: Backend, case: Case, rendezvous: Optional[Rendezvous]) -> int:
    """Connects the framework's ranks; returns the number of this one."""
    if rendezvous is None:
        if case.replicas > 1 and backend.data_parallel:
            raise Unsupported(f"{case.replicas} ranks on {case.nodes} nodes need a cluster: --on SITE")
        return 0
    rank = rendezvous.rank
    place = rank.address, rendezvous.framework_port, rendezvous.take_listener()
    info = RankInfo(rank.number, rank.local, rank.size, *place, silence_seconds(case))
    backend.join(case, info)
    return rank.number

"""A backend whose options dictate its step times, failures and hangs, so that everything else can be tested."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from typing import Optional

import numpy as np

from steptime import __version__
from steptime.core.backends.base import Array, Backend, Facts, Program, RankInfo, Weights, option
from steptime.core.errors import UnknownName, Unsupported
from steptime.core.models.graph import Graph
from steptime.core.schema import PRECISIONS, Case, Verdict

SIGNALS = {"segv": signal.SIGSEGV, "kill": signal.SIGKILL, "illegal": signal.SIGILL}
FAILURES = (*SIGNALS, "raise", "oom", "unsupported", "exit", "hang", "stop", "garbage", "flood", "nan", "eat")


class FakeProgram(Program):
    """Keeps a clock of its own, which each step moves on; with `sleep` it really waits."""

    def __init__(self, case: Case) -> None:
        self._step_seconds = float(option(BACKEND, case, "step_ms")) / 1e3
        self._fail_rank = int(option(BACKEND, case, "fail_rank"))
        self._feed_seconds = float(option(BACKEND, case, "feed_ms")) / 1e3
        self._noise = float(option(BACKEND, case, "noise"))
        self._rho = float(option(BACKEND, case, "rho"))
        self._warmup = int(option(BACKEND, case, "warmup"))
        self._factor = float(option(BACKEND, case, "warmup_factor"))
        self._sleep = bool(option(BACKEND, case, "sleep"))
        self._fail_at = int(option(BACKEND, case, "fail_at"))
        self._failure = str(option(BACKEND, case, "failure"))
        self._random = np.random.RandomState(case.seed + 7919 * case.repeat)
        self._deviation = self._random.standard_normal()
        self._now = 0.0
        self._count = 0
        if not self._sleep:
            self.clock = lambda: self._now

    def step(self) -> None:
        if self._failure and self._count == self._fail_at and BACKEND.rank == self._fail_rank:
            fail(self._failure)
        seconds = self._next_seconds()
        if self._sleep:
            time.sleep(seconds)
        self._now += seconds
        self._count += 1

    def feed(self, inputs: Array, labels: Array) -> None:
        if self._sleep:
            time.sleep(self._feed_seconds)
        self._now += self._feed_seconds

    def loss(self) -> Optional[float]:
        if self._failure == "nan" and self._count > self._fail_at:
            return math.nan
        return 1.0 / (1 + self._count)

    def _next_seconds(self) -> float:
        """An AR(1) process around the wanted mean, its marginal deviation `noise`, cut off below a tenth of the mean."""
        fresh = self._random.standard_normal() * math.sqrt(1 - self._rho**2)
        self._deviation = self._rho * self._deviation + fresh
        seconds = self._step_seconds * max(0.1, 1 + self._noise * self._deviation)
        return seconds * (self._factor if self._count < self._warmup else 1.0)


def fail(how: str) -> None:
    """Ends, hangs or misbehaves in the given way."""
    if how in SIGNALS:
        os.kill(os.getpid(), SIGNALS[how])
    elif how == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif how == "hang":
        time.sleep(1e6)
    elif how == "exit":
        os._exit(3)
    elif how == "raise":
        raise RuntimeError("the fake backend was told to fail")
    elif how == "oom":
        raise MemoryError("the fake backend was told to run out of memory")
    elif how == "unsupported":
        raise Unsupported("the fake backend was told not to support this")
    elif how == "garbage":
        sys.stdout.write("\x00\xff{not json\n" * 100)
    elif how == "flood":
        while True:
            sys.stdout.write("x" * 1_000_000)
    elif how == "eat":
        hoard = [np.empty(1 << 27, np.float64) for _ in range(1 << 20)]
        del hoard


class Fake(Backend):
    name = "fake"
    precisions = PRECISIONS
    accepts_batches = True
    data_parallel = True
    rank = 0
    is_framework = False
    options = {
        "step_ms": 10.0,
        "feed_ms": 0.0,
        "noise": 0.0,
        "rho": 0.0,
        "warmup": 0,
        "warmup_factor": 5.0,
        "sleep": False,
        "fail_at": 0,
        "fail_rank": 0,
        "failure": "",
        "largest": 0,
        "verdict": "",
        "needs_cap": False,
        "peak_gflops": 0.0,
    }
    probe_options = ("needs_cap", "peak_gflops")
    instruction_caps = ({"STEPTIME_FAKE_ISA": "2"}, {"STEPTIME_FAKE_ISA": "1"})

    def start(self, case: Case) -> None:
        failure = option(self, case, "failure")
        if failure and failure not in FAILURES:
            raise UnknownName("failure of backend fake", failure, FAILURES)
        if option(self, case, "needs_cap") and os.environ.get("STEPTIME_FAKE_ISA") != "1":
            os.kill(os.getpid(), signal.SIGILL)

    def join(self, case: Case, info: RankInfo) -> None:
        self.rank = info.rank

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        if 0 < int(option(self, case, "largest")) < case.batch:
            raise MemoryError(f"the fake backend has room for batches of {option(self, case, 'largest')}")
        return FakeProgram(case)

    def verdict(self, case: Case) -> Verdict:
        return Verdict(option(self, case, "verdict") or Verdict.UNKNOWN)

    def facts(self, case: Case) -> Facts:
        return Facts("fake", __version__, case.threads, case.precision)

    def peak_flops(self, case: Case) -> float:
        peak = float(option(self, case, "peak_gflops")) * 1e9
        if not peak:
            raise Unsupported("option peak_gflops of backend fake is not set")
        return peak


BACKEND = Fake()

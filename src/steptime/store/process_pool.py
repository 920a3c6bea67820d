"""A pool of processes for decoding records, which keeps one core busy per process.

The processes are started, not forked: a process that reads a store may have threads, and Ctrl-C amid a fork is lost or deadlocks.

python -m steptime.store.process_pool        reads a function and then shares from stdin, pickled; answers each share on stdout
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

MOST_PROCESSES = 8

Share = TypeVar("Share")
Outcome = TypeVar("Outcome")


def outcomes(do: Callable[[Share], Outcome], shares: Sequence[Share], processes: int) -> Iterator[Outcome]:
    """The outcome of each share, in order, as soon as it is known; `do` is a module's function, or a partial of one.

    This process takes part in the work, and redoes the share of a worker process that dies.
    """
    if processes < 2 or len(shares) < 2:
        yield from map(do, shares)
        return
    work = _Work(do, shares)
    work.begin(processes - 1)
    try:
        for position in range(len(shares)):
            yield work.outcome(position)
    finally:
        work.end()


class _Work(Generic[Share, Outcome]):
    """Which shares are done. Threads only talk to the worker processes; this process works in its main thread."""

    def __init__(self, do: Callable[[Share], Outcome], shares: Sequence[Share]) -> None:
        self.do, self.shares = do, shares
        self._waiting = iter(range(len(shares)))
        self._outcomes: dict[int, Outcome] = {}
        self._lost: set[int | None] = set()
        self._changed = threading.Condition()
        self._running: list[subprocess.Popen[bytes]] = []
        self._all_begun = self._over = False

    def begin(self, workers: int) -> None:
        for _ in range(workers):
            threading.Thread(target=self._ask, daemon=True).start()

    def end(self) -> None:
        """Starts no other share, and does not wait for those being worked on."""
        with self._changed:
            self._over = True
            for process in self._running:
                process.kill()

    def outcome(self, position: int) -> Outcome:
        """Works on other shares while a worker process has this one."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: position in self._outcomes or position in self._lost or not self._all_begun)
                if position in self._outcomes:
                    return self._outcomes.pop(position)
                number = position if position in self._lost else self._next()
            if number is not None:
                outcome = self.do(self.shares[number])
                with self._changed:
                    self._outcomes[number] = outcome

    def _next(self) -> int | None:
        """The next share that is not begun. The caller holds the condition."""
        number = None if self._over else next(self._waiting, None)
        self._all_begun = number is None
        return number

    def _ask(self) -> None:
        """Gives shares to one worker process until none is left. If it fails, whoever waits for its share does that one."""
        command = [sys.executable, "-P", "-m", "steptime.store.process_pool"]
        number = None
        with contextlib.suppress(Exception):
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
                assert running.stdin and running.stdout
                with self._changed:
                    self._running.append(running)
                    number = self._next()
                _send(running.stdin, self.do)
                while number is not None:
                    _send(running.stdin, self.shares[number])
                    outcome = pickle.load(running.stdout)
                    with self._changed:
                        self._outcomes[number] = outcome
                        number = self._next()
                        self._changed.notify_all()
        with self._changed:
            self._lost.add(number)
            self._changed.notify_all()


def _send(stream: Any, what: object) -> None:
    pickle.dump(what, stream)
    stream.flush()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that the user started; its end is the end of stdin
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    with contextlib.suppress(EOFError, BrokenPipeError):
        do = pickle.load(sys.stdin.buffer)
        while True:
            _send(answers, do(pickle.load(sys.stdin.buffer)))


if __name__ == "__main__":
    main()

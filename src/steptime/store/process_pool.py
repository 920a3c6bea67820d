"""Work shared out to all cores. Decoding is Python, one core's work in one process, so others are started beside it.

They are programs of their own, not forks: whoever looks at a store may have threads, and Ctrl-C amid a fork is lost or locks up.

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

MOST_HANDS = 8

Share = TypeVar("Share")
Outcome = TypeVar("Outcome")


def outcomes(do: Callable[[Share], Outcome], shares: Sequence[Share], hands: int) -> Iterator[Outcome]:
    """Of each share, in order, as soon as it is there; `do` is a module's function, or a partial of one.

    What a process beside this one does not answer is done here.
    """
    if hands < 2 or len(shares) < 2:
        yield from map(do, shares)
        return
    work = _Work(do, shares)
    work.begin(hands - 1)
    try:
        for position in range(len(shares)):
            yield work.outcome(position)
    finally:
        work.end()


class _Work(Generic[Share, Outcome]):
    """What is done and what is not. Threads only talk to the processes beside; this process's own work is its main thread's."""

    def __init__(self, do: Callable[[Share], Outcome], shares: Sequence[Share]) -> None:
        self.do, self.shares = do, shares
        self._waiting = iter(range(len(shares)))
        self._found: dict[int, Outcome] = {}
        self._lost: set[int | None] = set()
        self._changed = threading.Condition()
        self._running: list[subprocess.Popen[bytes]] = []
        self._all_begun = self._over = False

    def begin(self, helpers: int) -> None:
        for _ in range(helpers):
            threading.Thread(target=self._ask, daemon=True).start()

    def end(self) -> None:
        """Nobody begins another, and nobody waits for what is being done."""
        with self._changed:
            self._over = True
            for process in self._running:
                process.kill()

    def outcome(self, position: int) -> Outcome:
        """Does others while this one is being done elsewhere."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: position in self._found or position in self._lost or not self._all_begun)
                if position in self._found:
                    return self._found.pop(position)
                number = position if position in self._lost else self._next()
            if number is not None:
                found = self.do(self.shares[number])
                with self._changed:
                    self._found[number] = found

    def _next(self) -> int | None:
        """The next that nobody has begun. With the condition held."""
        number = None if self._over else next(self._waiting, None)
        self._all_begun = number is None
        return number

    def _ask(self) -> None:
        """Has one process do shares until none is left; silent about a process that fails, whose share is done by who waits."""
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
                    found = pickle.load(running.stdout)
                    with self._changed:
                        self._found[number] = found
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

"""Shares of a large intake on all cores. Decoding is Python, one core's work in one process, so others are started beside it.

They are programs of their own, not forks: whoever looks at a store may have threads, and a script without a main guard.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from steptime.store.intake import Outcome, Share, take_in

MOST_HANDS = 8


def outcomes(root: Path, shares: Sequence[Share], hands: int) -> list[Outcome]:
    """Of each share, in order. What a process beside this one does not answer is done here."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for position in range(len(shares)):
        waiting.put(position)
    found: dict[int, Outcome] = {}
    helpers = [threading.Thread(target=_ask, args=(root, shares, waiting, found)) for _ in range(hands - 1)]
    for helper in helpers:
        helper.start()
    try:
        while (number := _next(waiting)) is not None:
            found[number] = take_in(root, shares[number])
    finally:
        while _next(waiting) is not None:
            pass  # whatever went wrong here, nobody begins another
        for helper in helpers:
            helper.join()
    return [found.get(position) or take_in(root, share) for position, share in enumerate(shares)]


def _next(waiting: queue.SimpleQueue[int]) -> int | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None


def _ask(root: Path, shares: Sequence[Share], waiting: queue.SimpleQueue[int], found: dict[int, Outcome]) -> None:
    """Has one process do shares until none is left; silent about a process that fails, whose share is done by who waits."""
    command = [sys.executable, "-P", "-m", "steptime.store.intake", str(root)]
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            assert running.stdin and running.stdout
            while (number := _next(waiting)) is not None:
                running.stdin.write(msgspec.json.encode(shares[number]) + b"\n")
                running.stdin.flush()
                found[number] = msgspec.json.decode(running.stdout.readline(), type=Outcome)
    except (OSError, msgspec.DecodeError):
        return

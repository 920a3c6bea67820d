"""The worker's events: heartbeats and progress, one JSON object per line.

They go to a pipe whose number is in STEPTIME_EVENTS_FD, or nowhere if it is not set (a job that a person started). When the
other end is closed, the controller has died, and the worker ends too: it must not disturb the next measurement.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from steptime.core.machine.memory import tree_rss_bytes

VARIABLE = "STEPTIME_EVENTS_FD"
BEAT_SECONDS = 1.0
ORPHANED = 70


class Events:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.peak_tree_bytes = 0

    @classmethod
    def open(cls) -> Events:
        number = int(os.environ.pop(VARIABLE, "-1"))
        if number >= 0:
            os.set_inheritable(number, False)
        events = cls(number)
        threading.Thread(target=events._beat, daemon=True, name="heartbeat").start()
        return events

    def send(self, event: str, **content: Any) -> None:
        if self._descriptor < 0:
            return
        line = json.dumps({"event": event, **content}).encode() + b"\n"
        try:
            with self._lock:
                os.write(self._descriptor, line)
        except OSError:
            os._exit(ORPHANED)

    def _beat(self) -> None:
        while True:
            resident = tree_rss_bytes()
            self.peak_tree_bytes = max(self.peak_tree_bytes, resident)
            self.send("alive", rss_bytes=resident)
            threading.Event().wait(BEAT_SECONDS)

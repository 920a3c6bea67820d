"""What the exit code that a batch script wrote down says about its worker."""

from __future__ import annotations

import signal

from steptime.core.schema import FailureCause, Status
from steptime.core.worker.exit_cause import exit_cause

TIMED_OUT = 124
"""of timeout(1)"""
SIGNALLED = 128
"""what the shell adds to the number of a signal"""


def script_exit_cause(code: int, limit_seconds: float) -> FailureCause:
    if code == TIMED_OUT:
        return FailureCause(Status.TIMEOUT, f"not done after {limit_seconds:g} s")
    signalled = code - SIGNALLED in set(signal.Signals)
    return exit_cause(SIGNALLED - code if signalled else code)

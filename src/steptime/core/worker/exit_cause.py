"""What the exit code of a worker says about its end."""

from __future__ import annotations

import signal

from steptime.core.schema import FailureCause, Status


def exit_cause(code: int, who: str = "") -> FailureCause:
    """Of a process that left no record; the code is negative for a signal, as subprocess has it. `who` precedes the message."""
    prefix = f"{who} " if who else ""
    if code >= 0:
        return FailureCause(Status.CRASH, f"{prefix}ended with exit code {code} and no record")
    name = signal_name(-code)
    if -code == signal.SIGILL:
        return FailureCause(
            Status.ILLEGAL_INSTRUCTION, f"{prefix}killed by {name}: this CPU does not run an instruction that it advertises"
        )
    return FailureCause(Status.CRASH, f"{prefix}killed by {name}")


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

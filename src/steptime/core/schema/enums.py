"""The closed sets of words in cases, records and comparisons. A member is its text: in JSON, SQL, f-strings and as a key."""

from __future__ import annotations

from enum import Enum
from typing import Optional, TypeVar

W = TypeVar("W", bound="Word")


class Word(str, Enum):
    """A text out of a set that steptime knows.

    A text that is not in the set is no member, but it is read and kept as it is: imported records leave a word empty or have
    one of their own tool, and a newer steptime may have added some. Refusing them would quarantine whole records. Where
    only members are valid (plans, the status of a record), the reader checks.
    """

    __str__ = str.__str__
    __repr__ = str.__repr__  # ids of imported records are made of a case's repr
    __format__ = str.__format__  # type: ignore[assignment]  # mypy reads str's signature as that of a plain function

    @classmethod
    def _missing_(cls: type[W], value: object) -> Optional[W]:
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_ = word._value_ = value
        return word


class Status(Word):
    """How a case ended. All but OK are kinds of failure."""

    OK = "ok"
    UNSUPPORTED = "unsupported"
    """the backend, device or precision does not support the case"""
    OUT_OF_MEMORY = "out_of_memory"
    ILLEGAL_INSTRUCTION = "illegal_instruction"
    CRASH = "crash"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    WRONG_RESULT = "wrong_result"
    """a loss that is not a number, or a broken invariant"""
    NODE_FAILURE = "node_failure"
    LAUNCH_FAILED = "launch_failed"


class Verdict(Word):
    """Whether the machine did anything else while a case ran."""

    CLEAN = "clean"
    NOISY = "noisy"
    CONTENDED = "contended"
    UNKNOWN = "unknown"


class Throttle(Word):
    """What holds the clock of a GPU below what it could be."""

    POWER_CAP = "power cap"
    HEAT = "heat"
    HARDWARE = "hardware slow-down"
    """the board's own protection, as when the power supply is too weak"""


class StopReason(Word):
    """Which part of its budget ended a case."""

    TARGET = "target"
    STEPS = "steps"
    SECONDS = "seconds"


class Phase(Word):
    TRAINING = "training"
    INFERENCE = "inference"


class Precision(Word):
    """Widest first."""

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    INT8 = "int8"


class JobKind(Word):
    """What a worker does with the case of its job."""

    MEASURE = "measure"
    PROBE = "probe"
    PARITY = "parity"


class Change(Word):
    """What the interval of a ratio says of a figure against another."""

    MORE = "more"
    LESS = "less"
    SAME = "same"
    UNDECIDED = "undecided"


class ComparisonVerdict(Word):
    """What a change means for the user: of some measures more is faster, of others less."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNDECIDED = "undecided"
    NO_FIGURE = "no figure"


FAILURES = tuple(status for status in Status if status is not Status.OK)
VERDICTS = tuple(Verdict)
TRUST = {Verdict.CLEAN: 0, Verdict.NOISY: 1, Verdict.UNKNOWN: 2, Verdict.CONTENDED: 3}
"""of several records of one case the one with the least number counts"""
PHASES = tuple(Phase)
PRECISIONS = tuple(Precision)

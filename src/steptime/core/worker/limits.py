"""Makes running out of memory a clean failure of this process, before the kernel kills it."""

from __future__ import annotations

import contextlib
import re
import resource
from pathlib import Path

from steptime.core.errors import CaseFailed
from steptime.core.machine.memory import available_bytes, usable_bytes
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Precision, Status

OUT_OF_MEMORY = re.compile(
    r"out of memory|n[o']t (enough memory|allocate memory)|cannot allocate|bad_alloc|RESOURCE_EXHAUSTED", re.I
)
BYTES = {Precision.FP64: 8, Precision.FP32: 4, Precision.TF32: 4, Precision.BF16: 2, Precision.FP16: 2, Precision.INT8: 1}


def guard_memory(case: Case) -> None:
    """Limits allocations to the memory that is free now; if the kernel kills all the same, it kills this process."""
    if case.device == "cpu":
        resource.setrlimit(resource.RLIMIT_DATA, (available_bytes(), resource.getrlimit(resource.RLIMIT_DATA)[1]))
    with contextlib.suppress(OSError):  # not Linux, or not allowed: it was only a precaution
        Path("/proc/self/oom_score_adj").write_text("1000")


def refuse_hopeless(graph: Graph, case: Case) -> None:
    """Refuses a case whose inputs and weights alone exceed the machine's memory."""
    inputs = 4 * case.batch * _elements(graph.input.shape)
    weights = BYTES[case.precision] * graph.parameter_count
    if case.device == "cpu" and inputs + weights > usable_bytes():
        needs = f"inputs and weights alone take {(inputs + weights) / 1e9:.1f} GB"
        raise CaseFailed(Status.OUT_OF_MEMORY, f"batch {case.batch}: {needs}, of {usable_bytes() / 1e9:.1f} GB usable")


def is_out_of_memory(problem: BaseException) -> bool:
    named = type(problem).__name__ in ("MemoryError", "OutOfMemoryError", "_ArrayMemoryError")
    return isinstance(problem, MemoryError) or named or bool(OUT_OF_MEMORY.search(str(problem)))


def is_timeout(problem: BaseException) -> bool:
    """Whether a framework gave up waiting for other ranks. Most have no class of their own for that, only a text."""
    return isinstance(problem, TimeoutError) or "timed out" in str(problem).lower()


def memory_words(problem: BaseException) -> str:
    """The sentence of the message that mentions memory, without the place in the framework."""
    sentences = re.split(r"(?<=[.\]])\s+", str(problem).strip().splitlines()[0] if str(problem).strip() else "")
    telling = [sentence for sentence in sentences if OUT_OF_MEMORY.search(sentence)]
    return telling[0] if telling else f"{type(problem).__name__}: {' '.join(sentences)}"


def _elements(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total

"""PyTorch's profiler (Kineto) traces, gzipped or not: the profiler's steps, and where the device's time went."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from steptime.importing.source_file import Entry, File, Refused
from steptime.importing.timeline import Call, covered_seconds, profile_of

TOOL = "Kineto"

KINDS = {
    "kernel": ("kernel", "Kernel"),
    "memcpy": ("gpu_memcpy", "Memcpy"),
    "memset": ("gpu_memset", "Memset"),
    "cpu_op": ("cpu_op", "Operator"),
    "runtime": ("cuda_runtime", "Runtime"),
}
WORDS = {"kernel": "kernel", "memcpy": "copy", "memset": "copy", "cpu_op": "operator", "runtime": "runtime"}
"""the kinds that a profile has for them"""
MARKS = (b'"cpu_op"', b'"Operator"', b'"kernel"', b'"schemaVersion"')
_KINDS = {name: kind for kind, names in KINDS.items() for name in names}


class Event(msgspec.Struct):
    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: float | str = 0.0
    dur: float | str = 0.0
    pid: float | str | None = None
    tid: float | str | None = None


class Device(msgspec.Struct):
    name: str = ""


class Trace(msgspec.Struct):
    traceEvents: list[Event]  # noqa: N815 - the format's own word
    deviceProperties: list[Device] = []  # noqa: N815 - the same


def looks_like(file: File) -> bool:
    start, content = file.content[:64].lstrip()[:1], file.content
    if start == b"[" and b'"ph"' not in content[:2000]:
        return False
    return (start == b"[" or (start == b"{" and b'"traceEvents"' in content)) and any(word in content for word in MARKS)


def entries(file: File) -> Iterator[Entry]:
    """The profiler slows what it watches, and knows neither model nor batch: the record says so, and gives no speed."""
    try:
        trace = msgspec.json.decode(file.content, type=Trace | list[Event], strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise Refused(f"not a whole trace: {problem}") from None
    trace = Trace(trace) if isinstance(trace, list) else trace
    spans: dict[str, list[tuple[float, float]]] = {}
    calls: list[Call] = []
    steps: dict[str, float] = {}
    zero: float | None = None  # times since 1970 in seconds would leave a quarter of a microsecond to a kernel
    for event in trace.traceEvents:
        if event.ph != "X":
            continue
        zero = float(event.ts) if zero is None else zero
        start, length = (float(event.ts) - zero) / 1e6, float(event.dur) / 1e6
        if length < 0:
            raise Refused(f"'{event.name[:60]}' took {length:g} s")
        kind = _KINDS.get(event.cat)
        if event.cat != "gpu_user_annotation" and re.fullmatch(r"ProfilerStep#\d+", event.name):
            steps[event.name] = length
        elif kind:
            spans.setdefault(kind, []).append((start, start + length))
            calls.append(Call(WORDS[kind], event.name, (event.pid, event.tid), start, start + length))
    if not spans:
        raise Refused("no operators and no kernels in it")
    yield Entry(
        line=1,
        framework="pytorch",
        devices=1,
        nodes=1,
        device=trace.deviceProperties[0].name if trace.deviceProperties else "",
        device_kind="gpu" if "kernel" in spans else "cpu",
        steps=[seconds for seconds in steps.values() if seconds > 0],
        others=_split(spans),
        profile=profile_of(TOOL, calls, len(steps)),
        raw={"profiled": "true"},
        notes=["a profile: time under the profiler, which is longer than without; the trace names neither model nor batch"],
    )


def _split(spans: dict[str, list[tuple[float, float]]]) -> dict[str, float]:
    """Seconds in which at least one span of each kind ran, and the device's share of the whole."""
    figures = {f"{kind}_seconds": covered_seconds(times) for kind, times in spans.items()}
    every = [time for times in spans.values() for time in times]
    whole = max(end for _, end in every) - min(start for start, _ in every)
    device = covered_seconds([*spans.get("kernel", []), *spans.get("memcpy", []), *spans.get("memset", [])])
    return figures | {"span_seconds": whole} | ({"device_busy_share": device / whole} if device > 0 else {})

"""MLPerf inference: LoadGen's `mlperf_log_summary.txt`, for each of its four scenarios."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.core.schema import Status
from steptime.importing.source_file import NUMBER, Entry, File, Refused, SupplementaryFile, first_group, number, whole_number

TOOL = "MLPerf LoadGen"

FRAMEWORK = r"(?:^|[-_])(tensorrt|openvino|armnn|tflite|onnxruntime|pytorch|tensorflow|mxnet)(?=[-_]|$)"
"""submitters often say it in the system's name"""


def looks_like(file: File) -> bool:
    return "MLPerf Results Summary" in file.head[:400] or bool(re.match(r"accuracy=[\d.]+%, good=\d+, total=\d+", file.head))


def entries(file: File) -> Iterator[Entry]:
    if file.head.startswith("accuracy="):
        raise SupplementaryFile("the accuracy of a run; it has no speed")
    scenario, mode, result = (_field(file, name) for name in ("Scenario", "Mode", "Result is"))
    if "performance" not in mode.lower():
        raise Refused(f"a run in the mode '{mode}' measures no speed")
    queries = whole_number(_field(file, "samples_per_query")) or whole_number(_field(file, "Samples per query"))
    model, system = _place(file)
    single = scenario.replace(" ", "").lower() == "singlestream"
    speed_key, speed = _speed(file)
    latencies = {p: _nanoseconds(file, rf"{p}\.00 percentile latency") for p in (50, 90, 95, 99)}
    valid = result.upper() == "VALID"
    yield Entry(
        line=_line(file, speed_key or "Mean latency"),
        model=model,
        framework=first_group(FRAMEWORK, system.lower()),
        phase="inference",
        batch=1 if single else 0,
        devices=1 if single else 0,
        nodes=1 if single else 0,
        server=system,
        data="real",
        status=Status.OK if valid else Status.WRONG_RESULT,
        message="" if valid else f"LoadGen says: result is {result or 'missing'}",
        seconds=_nanoseconds(file, "Mean latency") if single else None,
        speed=speed,
        percentiles={p: value for p, value in latencies.items() if value is not None} if single else {},
        min_seconds=_nanoseconds(file, "Min latency") if single else None,
        max_seconds=_nanoseconds(file, "Max latency") if single else None,
        others=_others(file, latencies, queries),
        settings={"scenario": scenario.lower().replace(" ", "")},
        raw={"scenario": scenario, "sut": _field(file, "SUT name"), "result": result},
        notes=[] if single else ["latencies are those of queries under load, not of steps"],
    )


def _field(file: File, name: str) -> str:
    return first_group(rf"^[ \t]*{re.escape(name)}[ \t]*:([^\n]*)$", file.text).strip()


def _speed(file: File) -> tuple[str, float | None]:
    """Offline prints samples, Server what was scheduled and what was completed; Single Stream its rate of queries."""
    for key in ("Samples per second", "Completed samples per second", "QPS w/o loadgen overhead"):
        value = number(_field(file, key))
        if value is not None:
            return key, value
    return "", None


def _nanoseconds(file: File, name: str) -> float | None:
    value = number(first_group(rf"^[ \t]*{name}[ \t]*\(ns\)[ \t]*:[ \t]*({NUMBER}|nan)", file.text))
    return None if value is None else value / 1e9


def _others(file: File, latencies: dict[int, float | None], queries: int) -> dict[str, float]:
    figures = {f"latency_p{p}_seconds": value for p, value in latencies.items() if value is not None}
    figures |= {"samples_per_query": float(queries)} if queries else {}
    scheduled = number(_field(file, "Scheduled samples per second"))
    return figures | ({"scheduled_samples_per_second": scheduled} if scheduled is not None else {})


def _line(file: File, key: str) -> int:
    position = file.text.find(key)
    return file.line_of(position) if position >= 0 else 1


def _place(file: File) -> tuple[str, str]:
    """Model and system: `closed/ORG/results/SYSTEM/MODEL/Scenario/performance/run_1/..`, or with underscores for slashes."""
    folders = file.path.absolute().parts[:-1]
    if "results" in folders:
        after = folders[len(folders) - folders[::-1].index("results") :]
        if len(after) > 2:
            return after[1], after[0]
    match = re.search(
        r"results_(.+?)_(resnet|mobilenet|ssd-small|ssd-large|gnmt|ssd-mobilenet|ssd-resnet34|bert[-\w.]*?|dlrm|rnnt|3d-unet)_",
        file.path_text.replace("/", "_"),
    )
    return (match.group(2), match.group(1)) if match else ("", "")

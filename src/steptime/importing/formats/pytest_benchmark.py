"""pytest-benchmark's JSON: the seconds of a function in each test. What a call computes is the test's to know: no speed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, dict_at, number, whole_number

TOOL = "pytest-benchmark"


def looks_like(file: File) -> bool:
    if file.head.lstrip()[:1] != "{" or '"machine_info"' not in file.text or '"benchmarks"' not in file.text:
        return False
    return isinstance(file.json, dict) and isinstance(file.json.get("benchmarks"), list) and "machine_info" in file.json


def entries(file: File) -> Iterator[Entry]:
    machine = dict_at(file.json, "machine_info")
    for position, test in enumerate(file.json["benchmarks"], start=1):
        if not isinstance(test, dict) or not isinstance(test.get("stats"), dict):
            raise Refused(f"benchmark {position} has no stats", position)
        yield _entry(position, test, machine, str(file.json.get("datetime") or ""))


def _entry(position: int, test: Mapping[str, Any], machine: Mapping[str, Any], started: str) -> Entry:
    """The line is the test's place in the list. A test that says phase, batch or device in its extra_info is believed."""
    stats, about = test["stats"], dict_at(test, "extra_info")
    mean, median = number(stats.get("mean")), number(stats.get("median"))
    if mean is None:
        raise Refused(f"the mean of {test.get('name')} is '{stats.get('mean')}'", position)
    cpu = dict_at(machine, "cpu")
    device = str(about.get("device") or "")
    return Entry(
        line=position,
        model=str(about.get("model") or str(test.get("name") or "").partition("[")[0]),
        model_options={} if about.get("model") else dict(_options(dict_at(test, "params"))),
        framework=str(about.get("framework") or ""),
        phase=str(about.get("phase") or ""),
        precision=str(about.get("precision") or about.get("dtype") or ""),
        batch=whole_number(about.get("batch") or about.get("batch_size")),
        devices=1,
        nodes=1,
        device=device or str(cpu.get("brand_raw") or cpu.get("brand") or ""),
        device_kind="" if device else "cpu",
        server=str(machine.get("node") or ""),
        started=started,
        seconds=mean,
        n=whole_number(stats.get("rounds")) or None,
        percentiles={50: median} if median is not None else {},
        min_seconds=number(stats.get("min")),
        max_seconds=number(stats.get("max")),
        settings={"group": str(test.get("group") or ""), "test": str(test.get("fullname") or "").partition("[")[0]},
        raw={"python": str(machine.get("python_version") or ""), "iterations": str(stats.get("iterations") or "")},
        notes=["a step is a call of the function that the test times"],
    )


def _options(params: Mapping[str, Any]) -> Iterator[tuple[str, int | float | bool | str]]:
    for name, value in params.items():
        yield str(name), value if isinstance(value, (bool, int, float)) else str(value)

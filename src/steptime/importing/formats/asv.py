"""airspeed velocity (asv): a commit's results on a machine. Seconds, peak memory, or whatever a benchmark tracks; no speed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile, number

TOOL = "asv"

OLD = ("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75")
"""the columns that a file without result_columns has"""
KINDS = {"time": "seconds", "timeraw": "seconds", "mem": "bytes", "peakmem": "bytes", "track": "unit"}


def looks_like(file: File) -> bool:
    if file.head.lstrip()[:1] != "{" or not isinstance(file.json, dict):
        return False
    return {"commit_hash", "results", "params"} <= set(file.json) or _is_list(file)


def _is_list(file: File) -> bool:
    """benchmarks.json beside the machines' folders: what each benchmark is, and in which unit."""
    values = [value for value in file.json.values() if isinstance(value, dict)]
    return file.name == "benchmarks.json" and bool(values) and all({"code", "unit"} <= set(value) for value in values)


def entries(file: File) -> Iterator[Entry]:
    if "commit_hash" not in file.json:
        raise SupplementaryFile("the list of benchmarks; it is read with the results beside it")
    columns = file.json.get("result_columns") or OLD
    units = _units(file)
    position = 0
    for name, row in file.json["results"].items():
        named = (
            dict(zip(columns, row, strict=False)) if isinstance(row, list) else row if isinstance(row, dict) else {"result": row}
        )
        for options, value in _values(name, named):
            position += 1
            if value is not None:
                yield _entry(file.json, position, name, options, value, units.get(name, ""), number(named.get("started_at")))


def _values(name: str, row: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], float | None]]:
    """A value for each combination of parameters; None where that failed or was skipped."""
    result, params = row.get("result"), row.get("params") or []
    if result is None:
        return
    values = result if isinstance(result, list) else [result]
    combinations = list(itertools.islice(itertools.product(*params), len(values) + 1)) if isinstance(params, list) else []
    if len(combinations) != len(values):
        raise Refused(f"{name} has {len(values)} values for other parameters", 1)
    for options, value in zip(combinations, values, strict=True):
        yield tuple(str(option) for option in options), number(value)


def _entry(
    results: Mapping[str, Any],
    position: int,
    name: str,
    options: tuple[str, ...],
    value: float,
    unit: str,
    milliseconds: float | None,
) -> Entry:
    """The line is the result's place among all."""
    machine = results["params"] if isinstance(results["params"], dict) else {}
    kind = KINDS.get(name.rpartition(".")[2].partition("_")[0], "unit")
    seconds = value if kind == "seconds" else None
    tracked = {} if kind == "seconds" else {unit or ("bytes" if kind == "bytes" else "value"): value}
    peak = kind == "bytes" and name.rpartition(".")[2].startswith("peakmem") and 0 <= value < 1 << 50
    return Entry(
        line=position,
        model=name,
        model_options={f"parameter_{place}": option for place, option in enumerate(options, start=1)},
        devices=1,
        nodes=1,
        device=str(machine.get("cpu") or ""),
        device_kind="cpu",
        server=str(machine.get("machine") or ""),
        started=f"{(milliseconds or number(results.get('date')) or 0) / 1e3:.0f}",
        seconds=seconds,
        percentiles={} if seconds is None else {50: seconds},
        peak_bytes=int(value) if peak else None,
        others=tracked,
        settings={"commit": str(results["commit_hash"])[:12], "environment": str(results.get("env_name") or "")},
        raw={"python": str(results.get("python") or machine.get("python") or "")},
        notes=["a step is a call of the benchmark; asv's result is the median of its samples"] if seconds is not None else [],
    )


def _units(file: File) -> dict[str, str]:
    beside = file.sibling("../benchmarks.json") or file.sibling("benchmarks.json")
    listed = beside.json if beside and isinstance(beside.json, dict) else {}
    return {name: str(about.get("unit") or "") for name, about in listed.items() if isinstance(about, dict)}

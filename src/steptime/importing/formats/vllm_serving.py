"""vLLM's serving benchmark (`vllm bench serve --save-result`): requests and tokens per second of a server under load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from steptime.core.schema import Status
from steptime.importing.source_file import Entry, File, Refused, number
from steptime.importing.tables import json_lines

TOOL = "vLLM serving"

SPEEDS = {
    "request_throughput": ("requests/s", "prompt and generation"),
    "output_throughput": ("tokens/s", "generation"),
    "total_token_throughput": ("tokens/s", "prompt and generation"),
}
"""figures of one run, each in its unit and for its part of the work: a record for each, since they must not be added up"""
LATENCIES = ("ttft", "tpot", "itl", "e2el")


def looks_like(file: File) -> bool:
    return '"request_throughput"' in file.text and '"total_input_tokens"' in file.text and bool(_runs(file))


def entries(file: File) -> Iterator[Entry]:
    for line, run in _runs(file):
        common = _common(line, run)
        speeds = {name: value for name in SPEEDS if (value := number(run.get(name))) is not None}
        if not speeds:
            raise Refused("none of its throughputs is a figure", line)
        for name, speed in speeds.items():
            unit, part = SPEEDS[name]
            yield replace(common, speed=speed, settings=common.settings | {"unit": unit, "part": part})


def _runs(file: File) -> list[tuple[int, Mapping[str, Any]]]:
    rows = [(1, file.json)] if isinstance(file.json, dict) else (table.rows if (table := json_lines(file)) else [])
    return [(line, row) for line, row in rows if "request_throughput" in row and "total_input_tokens" in row]


def _common(line: int, run: Mapping[str, Any]) -> Entry:
    completed = number(run.get("completed"))
    failed = completed == 0
    return Entry(
        line=line,
        model=str(run.get("model_id") or run.get("model") or "").rpartition("/")[2],
        framework=str(run.get("backend") or "vllm").partition("-")[0].replace("openai", "vllm"),
        phase="inference",
        data=str(run.get("dataset_name") or "real"),
        started=_started(str(run.get("date") or "")),
        status=Status.CRASH if failed else Status.OK,
        message="no request was completed" if failed else "",
        others=dict(_latencies(run)),
        settings={
            "concurrency": _text(run.get("max_concurrency")),
            "request_rate": _text(run.get("request_rate")),
            "prompt_tokens": _mean(run.get("total_input_tokens"), completed),
            "generated_tokens": _mean(run.get("total_output_tokens"), completed),
            "parallel": _text(run.get("tensor_parallel_size")),
        },
        raw={
            name: _text(run.get(name)) for name in ("backend", "model_id", "tokenizer_id", "num_prompts", "duration", "completed")
        },
        notes=["speeds are those of a server under load; the file does not name its device"],
    )


def _latencies(run: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """`mean_ttft_ms` and its like, in seconds."""
    for name, value in run.items():
        words = str(name).split("_")
        seconds = number(value)
        if len(words) == 3 and words[1] in LATENCIES and words[2] == "ms" and seconds is not None:
            yield f"{words[1]}_{words[0]}_seconds", seconds / 1e3


def _mean(total: Any, completed: float | None) -> str:
    """Tokens of a request, rounded: runs that differ by a fraction of a token are one configuration."""
    value = number(total)
    return str(round(value / completed)) if value and completed and abs(value) < 1e15 else ""


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def _started(text: str) -> str:
    """`20240716-153012` is what vLLM writes."""
    return f"{text[:4]}-{text[4:6]}-{text[6:8]} {text[9:11]}:{text[11:13]}:{text[13:15]}" if text[8:9] == "-" else text

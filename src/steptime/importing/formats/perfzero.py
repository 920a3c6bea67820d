"""PerfZero: the JSON summary of a benchmark's execution, by itself or at the end of `perfzero.log`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.core.schema import Status
from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile, dict_at, first_group, number, whole_number

TOOL = "PerfZero"

SPEEDS = ("exp_per_second", "avg_exp_per_second", "examples_per_second", "average_examples_per_sec")


def looks_like(file: File) -> bool:
    if "NVIDIA-SMI" in file.head[:400] or re.match(r"NAME\s+MAJ:MIN RM\s+SIZE", file.head):
        return True
    return not file.binary and '"benchmark_result"' in file.text and '"execution_id"' in file.text


def entries(file: File) -> Iterator[Entry]:
    if '"benchmark_result"' not in file.text:
        raise SupplementaryFile("describes a machine (nvidia-smi, lsblk); it holds no result")
    decoder = json.JSONDecoder()
    position, any_summary = 0, False
    while (start := re.compile(r"^[ \t]*\{", re.MULTILINE).search(file.text, position)) is not None:
        try:
            summary, position = decoder.raw_decode(file.text, start.end() - 1)
        except (ValueError, RecursionError):
            position = start.end()
            continue
        if isinstance(summary, dict) and isinstance(summary.get("benchmark_result"), dict):
            any_summary = True
            yield _entry(summary, file.line_of(start.start()))
    if not any_summary:
        raise Refused("its summary is not whole JSON")


def _entry(summary: Mapping[str, Any], line: int) -> Entry:
    result, system = summary["benchmark_result"], dict_at(summary, "system_info")
    framework = dict_at(summary, "ml_framework_info")
    metrics = {str(m.get("name")): number(m.get("value")) for m in result.get("metrics") or [] if isinstance(m, dict)}
    name = str(result.get("name", ""))[:300]
    method = name.rpartition(".")[2]
    seconds = number(result.get("wall_time"))
    succeeded = result.get("succeeded") is True
    gpus = whole_number(first_group(r"(\d{1,4})_gpu", method)) or whole_number(system.get("accelerator_count"))
    others = {key: value for key, value in metrics.items() if value is not None and key not in SPEEDS}
    memory = number(dict_at(summary, "process_info").get("max_rss"))
    return Entry(
        line=line,
        model=first_group(r"(resnet\d+|bert|transformer|ncf|vgg\d+|inception\d|alexnet|nasnet)", name.lower()) or method,
        framework=str(framework.get("name") or "tensorflow"),
        version=str(framework.get("version") or ""),
        phase="inference" if "eval" in method or "inference" in method else "training",
        precision=first_group(r"(fp16|fp32|bf16)", method.lower()),
        devices=gpus or 1,
        nodes=1,
        device=str(system.get("accelerator_model") if gpus else system.get("cpu_model") or ""),
        device_kind="gpu" if gpus else "cpu",
        server=str(system.get("platform_name") or ""),
        started=str(summary.get("execution_timestamp") or ""),
        status=Status.OK if succeeded else Status.CRASH,
        message="" if succeeded else "PerfZero says that the benchmark did not succeed",
        speed=next((metrics[key] for key in SPEEDS if metrics.get(key) is not None), None),
        peak_bytes=int(memory) if memory and 0 < memory < 1 << 50 else None,
        others=others | ({"run_seconds": seconds} if seconds and seconds > 0 else {}),
        settings={"benchmark": method, "compile": "xla" if "xla" in method.lower().split("_") else ""},
        raw={"benchmark": name, "execution_id": str(summary.get("execution_id"))},
    )

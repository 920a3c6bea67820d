"""TensorFlow models' benchmark logger: `benchmark_run.log` (what was run) with `metric.log` (figures by step) beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.core.schema import Status
from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile, number, whole_number

TOOL = "TensorFlow benchmark logger"

SPEEDS = ("average_examples_per_sec", "eval_average_examples_per_sec", "examples_per_second", "exp_per_second")


def looks_like(file: File) -> bool:
    first = file.head.partition("\n")[0]
    if '"machine_config"' in first and '"run_date"' in first:
        return True
    return file.name == "metric.log" and '"global_step"' in first and '"name"' in first


def entries(file: File) -> Iterator[Entry]:
    if file.name == "metric.log":
        if file.sibling("benchmark_run.log"):
            raise SupplementaryFile("the figures of a run; they are read with benchmark_run.log beside it")
        raise Refused("the figures of a run whose benchmark_run.log is not beside it")
    run = json.loads(file.lines[0])
    metrics, line = _metrics(file)
    parameters = {p.get("name"): _value(p) for p in run.get("run_parameters") or [] if isinstance(p, dict)}
    machine = run.get("machine_config") or {}
    gpu = machine.get("gpu_info") or {}
    count = whole_number(parameters.get("num_gpus")) or whole_number(gpu.get("count"))
    speeds = [metrics[name][-1] for name in SPEEDS if name in metrics]
    losses = metrics.get("loss") or metrics.get("train_loss") or []
    accuracy = metrics.get("accuracy") or metrics.get("eval_accuracy") or []
    data = parameters.get("synthetic_data")
    yield Entry(
        line=line,
        model=str(run.get("model_name", "")),
        framework="tensorflow",
        version=str((run.get("tensorflow_version") or {}).get("version", "")),
        phase="training",
        precision=str(parameters.get("dtype") or parameters.get("precision") or ""),
        global_batch=whole_number(parameters.get("batch_size")),
        devices=count,
        nodes=1,
        device=str(gpu.get("model") or "") if count else str((machine.get("cpu_info") or {}).get("cpu_info", "")),
        device_kind="gpu" if count else "cpu",
        data="synthetic" if data in (True, "True") else str((run.get("dataset") or {}).get("name", "")),
        optimizer=str(parameters.get("optimizer") or ""),
        started=str(run.get("run_date", "")).replace("Z", "+00:00"),
        status=Status.OK if speeds else Status.CRASH,
        message="" if speeds else "metric.log has no examples per second",
        speed=speeds[0] if speeds else None,
        first_loss=losses[0] if losses else None,
        last_loss=losses[-1] if losses else None,
        others={"accuracy": accuracy[-1]} if accuracy else {},
        settings={
            "layout": {"channels_first": "nchw", "channels_last": "nhwc"}.get(str(parameters.get("data_format")), ""),
            "compile": "xla" if str(parameters.get("enable_xla") or parameters.get("use_xla")).lower() == "true" else "",
        },
        raw={str(name): str(value) for name, value in parameters.items()},
    )


def _metrics(file: File) -> tuple[dict[str, list[float]], int]:
    """All values by name, in order, and the line of the last speed."""
    beside = file.sibling("metric.log")
    if beside is None:
        raise Refused("metric.log, which has its figures, is not beside it")
    values: dict[str, list[float]] = {}
    line = 1
    for count, text in enumerate(beside.lines, start=1):
        if not text.strip():
            continue
        try:
            metric = json.loads(text)
            value = number(metric["value"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Refused(f"metric.log: line {count} is not a metric") from None
        if value is not None:
            values.setdefault(str(metric.get("name")), []).append(value)
            line = count if metric.get("name") in SPEEDS else line
    return values, line


def _value(parameter: Mapping[str, Any]) -> Any:
    return next((value for key, value in parameter.items() if key.endswith("_value")), None)

"""optimum-benchmark: `benchmark_report.json`, alone, beside `benchmark_config.json`, or both within `benchmark.json`.

Its training throughput divides the samples of all steps by the seconds of one, so it is too large by the number of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile, dict_at, number, whole_number

TOOL = "optimum-benchmark"

TARGETS = {
    "forward": "inference",
    "prefill": "inference",
    "decode": "inference",
    "call": "inference",
    "per_token": "inference",
    "train": "training",
}
MEMORY = ("max_global_vram", "max_process_vram", "max_ram")


def looks_like(file: File) -> bool:
    if file.head.lstrip()[:1] != "{" or not ('"latency"' in file.head or '"optimum_benchmark' in file.head):
        return False
    return isinstance(file.json, dict) and (_is_config(file.json) or _report(file.json) is not None)


def entries(file: File) -> Iterator[Entry]:
    if _is_config(file.json) and _report(file.json) is None:
        raise SupplementaryFile("the configuration of a benchmark; it is read with its report")
    report = _report(file.json) or {}
    config = file.json.get("config") or _beside(file)
    for target, phase in TARGETS.items():
        part = report.get(target)
        if isinstance(part, dict) and isinstance(part.get("latency"), dict):
            yield _entry(target, phase, part, config)


def _is_config(content: Mapping[str, Any]) -> bool:
    return isinstance(content.get("scenario"), dict) and isinstance(content.get("backend"), dict)


def _report(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = content.get("report", content)
    if not isinstance(inner, dict):
        return None
    parts = [inner.get(target) for target in TARGETS]
    return inner if any(isinstance(part, dict) and isinstance(part.get("latency"), dict) for part in parts) else None


def _beside(file: File) -> Mapping[str, Any]:
    config = file.sibling("benchmark_config.json")
    return config.json if config and isinstance(config.json, dict) else {}


def _entry(target: str, phase: str, part: Mapping[str, Any], config: Mapping[str, Any]) -> Entry:
    latency = part["latency"]
    mean, count = number(latency.get("mean")), whole_number(latency.get("count"))
    if not mean or not mean > 0 or count < 1:
        raise Refused(f"{target}: mean latency {latency.get('mean')} over {latency.get('count')} values", 1)
    values = [float(v) for v in latency.get("values") or [] if isinstance(v, (int, float))]
    speed, notes = _speed(target, part.get("throughput"), mean, count, _batch(config, phase))
    backend, environment = dict_at(config, "backend"), dict_at(config, "environment")
    gpus = environment.get("gpu") or []
    cuda = backend.get("device") in ("cuda", "gpu")
    memory = part.get("memory") if isinstance(part.get("memory"), dict) else {}
    peak = next((number(memory[key]) for key in MEMORY if number((memory or {}).get(key))), None)  # type: ignore[index]
    unit = str((part.get("throughput") or {}).get("unit") or ("tokens/s" if target in ("decode", "per_token") else ""))
    samples = unit in ("", "samples/s") and target not in ("decode", "per_token")
    return Entry(
        line=1,
        model=str(backend.get("model") or ""),
        framework=str(backend.get("name") or ""),
        version=str(backend.get("version") or ""),
        phase=phase,
        precision=str(backend.get("torch_dtype") or backend.get("dtype") or ""),
        batch=_batch(config, phase) if samples else 0,
        devices=1 if backend else 0,
        nodes=1 if backend else 0,
        device=str(gpus[0])
        if cuda and gpus
        else str(environment.get("cpu") or "").strip()
        if backend.get("device") == "cpu"
        else "",
        device_kind="gpu" if cuda else str(backend.get("device") or ""),
        data="synthetic",
        seconds=mean,
        speed=speed,
        n=count,
        percentiles={p: value for p in (50, 90, 95, 99) if (value := number(latency.get(f"p{p}"))) is not None},
        min_seconds=min(values) if values else None,
        max_seconds=max(values) if values else None,
        peak_bytes=int(peak * 1e6) if peak and peak < 1e9 else None,
        settings=_settings(target, "" if samples else unit, backend, dict_at(config, "scenario")),
        raw={
            "part": target,
            "task": str(backend.get("task") or ""),
            "throughput": str((part.get("throughput") or {}).get("value", "")),
        },
        notes=notes,
    )


PARTS = {"prefill": "prompt", "decode": "generation", "per_token": "generation", "call": "prompt and generation"}


def _settings(target: str, unit: str, backend: Mapping[str, Any], scenario: Mapping[str, Any]) -> dict[str, str]:
    shapes, generation = dict_at(scenario, "input_shapes"), dict_at(scenario, "generate_kwargs")
    compiled = backend.get("torch_compile") is True
    return {
        "part": PARTS.get(target, "") + (", one token" if target == "per_token" else ""),
        "unit": unit,
        "compile": "torch.compile" if compiled else "",
        "attention": str(backend.get("attn_implementation") or ""),
        "quantization": str(backend.get("quantization_scheme") or ""),
        "prompt_tokens": str(shapes.get("sequence_length") or ""),
        "generated_tokens": str(generation.get("max_new_tokens") or ""),
    }


def _speed(target: str, throughput: Any, mean: float, count: int, batch: int) -> tuple[float | None, list[str]]:
    """Corrected where the arithmetic shows the mistake; a report of a corrected version is left as it is."""
    printed = number(throughput.get("value")) if isinstance(throughput, dict) else None
    if printed is None or target != "train" or count == 1:
        return printed, []
    if batch and abs(printed * mean - batch) < 0.05 * batch:
        return printed, []
    product = f"{printed:g} x {mean:g} s = {printed * mean:g} samples"
    note = f"printed {printed:g} samples/s counts {count} steps in the time of one ({product}); divided by {count}"
    return printed / count, [note]


def _batch(config: Mapping[str, Any], phase: str) -> int:
    scenario = dict_at(config, "scenario")
    if phase == "training":
        arguments = dict_at(scenario, "training_arguments")
        return whole_number(arguments.get("per_device_train_batch_size")) * (
            whole_number(arguments.get("gradient_accumulation_steps")) or 1
        )
    return whole_number(dict_at(scenario, "input_shapes").get("batch_size"))

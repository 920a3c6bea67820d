"""PyTorch's compiler benchmarks (benchmarks/dynamo): CSV `dev,name,batch_size,speedup,abs_latency,..`, of TorchBench too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.core.schema import Status
from steptime.importing.source_file import Entry, File, Refused, first_group, number, whole_number
from steptime.importing.tables import csv_table

TOOL = "torchbench"

OTHERS = {
    "speedup": "speedup_over_eager",
    "compilation_latency": "compilation_seconds",
    "compression_ratio": "memory_ratio_to_eager",
}


def looks_like(file: File) -> bool:
    return file.head.startswith("dev,name,batch_size,") and "abs_latency" in file.head.partition("\n")[0]


def entries(file: File) -> Iterator[Entry]:
    """Compiler, suite, precision and phase are in the name: `inductor_torchbench_amp_training_cuda_performance.csv`.

    The milliseconds are those of the compiled model; 0 stands for one that failed.
    """
    table = csv_table(file)
    if not table:
        raise Refused("its first line is not a line of names", 1)
    for line, row in table.rows:
        yield _entry(file, line, row)


def _entry(file: File, line: int, row: Mapping[str, Any]) -> Entry:
    milliseconds = number(row.get("abs_latency"))
    if milliseconds is None:
        raise Refused(f"abs_latency of {row.get('name')} is '{row.get('abs_latency')}'", line)
    failed = milliseconds == 0
    device = str(row.get("dev") or "")
    memory = number(row.get("dynamo_peak_mem"))
    others = {ours: value for theirs, ours in OTHERS.items() if (value := number(row.get(theirs))) is not None}
    return Entry(
        line=line,
        model=str(row["name"]),
        framework="pytorch",
        phase=first_group(r"_(training|inference)(?=[_.])", file.name),
        precision=first_group(r"_(amp|float16|float32|bfloat16)(?=[_.])", file.name),
        batch=whole_number(row.get("batch_size")),
        devices=1,
        nodes=1,
        device_kind="cpu" if device == "cpu" else "gpu" if device in ("cuda", "xpu") else "",
        data="synthetic",
        status=Status.CRASH if failed else Status.OK,
        message="the benchmark has no latency: the model failed" if failed else "",
        seconds=None if failed else milliseconds / 1e3,
        peak_bytes=int(memory * 1e9) if memory and 0 < memory < 1e6 else None,
        others={} if failed else others,
        settings={
            "compile": _compiler(file.name),
            "suite": first_group(r"_(torchbench|huggingface|timm_models)(?=[_.])", file.name),
        },
        raw={"dev": device, "file": file.name},
    )


def _compiler(name: str) -> str:
    """What stands before the suite, and the options after the device: `inductor_no_cudagraphs`."""
    before = first_group(r"^(\w+?)_(?:torchbench|huggingface|timm_models)_", name)
    return before or first_group(r"^(\w+?)_", name)

"""jcjohnson/cnn-benchmarks: JSON with the seconds of every forward and backward pass, in Torch7."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, whole_number

TOOL = "cnn-benchmarks"


def looks_like(file: File) -> bool:
    return (
        file.head.lstrip()[:1] == "{" and '"forward_times"' in file.head and '"opt"' in file.head and isinstance(file.json, dict)
    )


def entries(file: File) -> Iterator[Entry]:
    content = file.json
    options = content["opt"]
    forward, total = _seconds(content, "forward_times"), _seconds(content, "total_times")
    height, width = options.get("image_height"), options.get("image_width")
    shape, cudnn = f"{height}x{width}", str(content.get("cudnn_version", ""))
    cpu = content.get("gpu_name") == "cpu"
    kernels = "" if cpu else "cudnn" if options.get("use_cudnn", 1) else "nn"
    for phase, steps in (("inference", forward), ("training", total)):
        yield Entry(
            line=1,
            model=PurePosixPath(str(options["model_t7"])).stem,
            framework="torch7",
            phase=phase,
            precision="fp32",
            batch=whole_number(options["batch_size"]),
            devices=1,
            nodes=1,
            device="" if cpu else str(content.get("gpu_name", "")),
            device_kind="cpu" if cpu else "gpu",
            data="synthetic",
            data_store="dram",
            steps=steps,
            settings={
                "image_size": str(height) if height == width and height else "" if height is None else shape,
                "cudnn": cudnn if kernels == "cudnn" else "",
                "kernels": kernels,
            },
            raw={"cudnn": cudnn, "image": shape, "model_t7": str(options["model_t7"])},
            notes=["Torch7's default precision"] + ["forward and backward, without an update"] * (phase == "training"),
        )


def _seconds(content: dict[str, Any], key: str) -> list[float]:
    values = content[key]
    if not isinstance(values, list) or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        raise Refused(f"{key} is not a list of figures", 1)
    return [float(value) for value in values]

"""timm's benchmark results: CSV with `infer_samples_per_sec` or `train_samples_per_sec` and their step time, batch and size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.importing.source_file import Entry, File, Refused, first_group, number, rounding, whole_number
from steptime.importing.tables import csv_table

TOOL = "timm"

PHASES = {"infer": "inference", "train": "training"}
COMPILERS = ("dynamo", "inductor", "aot", "script", "trace")
"""as the names of files have them; without one the model ran eagerly"""


def looks_like(file: File) -> bool:
    first = file.head.partition("\n")[0]
    return first.startswith("model,") and bool(re.search(r"(?:infer|train)_samples_per_sec", first))


def entries(file: File) -> Iterator[Entry]:
    """Precision, layout, versions and device are in the name: `benchmark-infer-amp-nhwc-pt112-cu113-rtx3090.csv`."""
    table = csv_table(file)
    if not table:
        raise Refused("its first line is not a line of names", 1)
    words = file.name.removesuffix(".csv").split("-")
    torch = first_group(r"-pt(\d+)-", file.name)
    device, gpu = _device(words)
    settings = {
        "layout": next((word for word in words if word in ("nchw", "nhwc")), ""),
        "amp": "bf16" if "amp_bf16" in words else "",
        "compile": next((word for word in words if word in COMPILERS), "eager"),
    }
    for line, row in table.rows:
        for prefix, phase in PHASES.items():
            speed, milliseconds = number(row.get(f"{prefix}_samples_per_sec")), number(row.get(f"{prefix}_step_time"))
            if speed is None:
                continue
            parameters = number(row.get("param_count"))
            size = row.get(f"{prefix}_img_size", "")
            yield Entry(
                line=line,
                model=row["model"],
                framework="pytorch",
                version=_version(torch),
                phase=phase,
                precision=next((word for word in words if word in ("amp", "fp32", "fp16", "bf16", "amp_bf16")), ""),
                batch=whole_number(row.get(f"{prefix}_batch_size")),
                devices=1,
                nodes=1,
                device=device,
                device_kind="gpu" if gpu else "cpu" if "cpu" in words else "",
                data="synthetic",
                data_store="dram",
                seconds=None if milliseconds is None else milliseconds / 1e3,
                speed=speed,
                rounding=rounding(row[f"{prefix}_samples_per_sec"], row.get(f"{prefix}_step_time", "")),
                others={"parameters_millions": parameters} if parameters is not None else {},
                settings=settings | {"image_size": size},
                raw={"image size": size, "file": file.name},
            )


def _version(digits: str) -> str:
    """`112` is 1.12, `291` is 2.9.1."""
    if len(digits) != 3:
        return ""
    return f"1.{digits[1:]}" if digits[0] == "1" else ".".join(digits)


def _device(words: list[str]) -> tuple[str, bool]:
    """After `cu113`, or after `cpu`."""
    for position, word in enumerate(words[:-1]):
        if re.fullmatch(r"cu\d+", word):
            name = words[position + 1]
            return (f"rtx {name}" if re.fullmatch(r"\d{4}", name) else name), True
        if word == "cpu":
            return words[position + 1].replace("_", "-"), False
    return "", False

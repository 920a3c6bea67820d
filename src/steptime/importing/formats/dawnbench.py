"""DAWNBench submissions: a JSON entry, and for training the TSV `epoch hours top1Accuracy top5Accuracy` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile, number
from steptime.importing.tables import csv_table

TOOL = "DAWNBench"


def looks_like(file: File) -> bool:
    if re.match(r"epoch\thours\ttop1Accuracy", file.head):
        return True
    submission = file.json if file.head.lstrip()[:1] == "{" and '"hardware"' in file.head else None
    return isinstance(submission, dict) and {"version", "author", "framework", "model", "hardware", "timestamp"} <= set(
        submission
    )


def entries(file: File) -> Iterator[Entry]:
    if file.head.startswith("epoch\t"):
        if file.sibling(file.path.with_suffix(".json").name):
            raise SupplementaryFile("the epochs of an entry; they are read with the JSON beside it")
        raise Refused("the epochs of an entry whose JSON is not beside it")
    submission = file.json
    hardware = str(submission["hardware"])
    common = Entry(
        line=1,
        model=str(submission["model"]),
        framework=str(submission["framework"]),
        device=_device(hardware),
        server=hardware,
        data="real",
        started=str(submission["timestamp"]),
        raw={
            key: str(submission[key])
            for key in ("author", "codeURL", "hardware", "misc")
            if isinstance(submission.get(key), (str, int))
        },
    )
    latency = number(submission.get("latency"))
    yield _inference(common, submission, latency) if latency is not None else _training(common, file, submission)


def _inference(common: Entry, submission: dict[str, Any], milliseconds: float) -> Entry:
    """Latency is that of one image, by the rules."""
    from dataclasses import replace

    others = {key: value for key in ("cost", "top5Accuracy") if (value := number(submission.get(key))) is not None}
    return replace(common, phase="inference", batch=1, devices=1, nodes=1, seconds=milliseconds / 1e3, others=others)


def _training(common: Entry, file: File, submission: dict[str, Any]) -> Entry:
    from dataclasses import replace

    beside = file.sibling(file.path.with_suffix(".tsv").name)
    table = csv_table(beside, "\t") if beside else None
    if not table or not table.rows:
        raise Refused("its epochs (a TSV of the same name) are not beside it")
    hours = [number(row.get("hours")) for _, row in table.rows]
    top5 = [number(row.get("top5Accuracy")) for _, row in table.rows]
    if hours[-1] is None or not hours[-1] > 0:
        raise Refused("the last epoch has no hours", table.rows[-1][0])
    reached = next((h for h, t in zip(hours, top5, strict=True) if h is not None and t is not None and t >= 93.0), None)
    others = {"run_seconds": 3600 * hours[-1], "epochs": float(len(hours))}
    others |= {"seconds_to_93_percent_top5": 3600 * reached} if reached is not None else {}
    others |= {"top5Accuracy": top5[-1]} if top5[-1] is not None else {}
    cost = number(submission.get("costPerHour"))
    others |= {"cost_per_hour": cost} if cost is not None else {}
    return replace(common, phase="training", others=others)


def _device(hardware: str) -> str:
    """`8 * V100 (Amazon EC2 [p3.16xlarge])` names it; `16 p3.16xlarge (AWS)` does not."""
    match = re.search(r"(?i)\b(?:nvidia |tesla )*(K80|M60|P100|V100|T4|P4|GTX ?1080 ?Ti|TPU ?v\d)\b", hardware)
    return match.group(1) if match else ""

"""ryujaehun/pytorch-gpu-benchmark: a CSV with a column per model and a line per step, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.importing.source_file import Entry, File, Refused, first_group, number
from steptime.importing.tables import csv_table

TOOL = "pytorch-gpu-benchmark"

NAME = re.compile(r"(.*?)_?(\d+)_gpus__(double|float|half)_model_(train|inference)_benchmark\.csv$")
FOLDER = r"^(?:new_)?results_"
SERVER = FOLDER + r"(dgx-[^_]+|dgx2?)_"
COLUMNS = {"resnet50", "resnet18", "densenet121", "vgg16", "squeezenet1_0", "mnasnet1_0"}


def looks_like(file: File) -> bool:
    first = file.head.partition("\n")[0].strip()
    return len(COLUMNS & set(first.split(","))) >= 3 and bool(re.match(r"[\w.]+(?:,[\w.]+)+$", first))


def entries(file: File) -> Iterator[Entry]:
    """GPU, count, precision and phase are in the name; the batch is nowhere."""
    table = csv_table(file)
    named = NAME.search(file.name)
    if not table or not table.rows:
        raise Refused("no steps", 1)
    device, count, precision, phase = named.groups() if named else ("", "0", "", "")
    server = first_group(SERVER, device)
    device = re.sub(rf"{SERVER}|{FOLDER}", "", device, count=1)
    for model in table.columns:
        steps = []
        for line, row in table.rows:
            milliseconds = number(row.get(model))
            if milliseconds is None:
                raise Refused(f"{model} has '{row.get(model, '')}' for milliseconds", line)
            steps.append(milliseconds / 1e3)
        yield Entry(
            line=1,
            model=model,
            framework="pytorch",
            phase=phase,
            precision=precision,
            devices=int(count),
            nodes=1 if named else 0,
            device=device,
            server=server,
            device_kind="gpu",
            data="synthetic",
            steps=steps,
        )

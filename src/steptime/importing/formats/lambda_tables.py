"""Lambda's summary tables: images/sec of tf_cnn_benchmarks by GPU (rows) and model (columns), in CSV or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.importing.foreign import Entry, File, number, search, whole
from steptime.importing.tables import Table, csv_table, json_table

TOOL = "Lambda tables"


def looks_like(file: File) -> bool:
    start = file.head[:200].lstrip()
    return start.startswith("name_gpu,num_gpu,") or (start.startswith("[") and '"name_gpu"' in start and '"num_gpu"' in start)


def entries(file: File) -> Iterator[Entry]:
    """0 stands for what did not run, and is left out. The batch is not told."""
    for line, row in _table(file).rows:
        name = str(row["name_gpu"])
        for model, value in row.items():
            speed = number(value)
            if model in ("name_gpu", "num_gpu") or not speed:
                continue
            yield Entry(
                line=line,
                model=model,
                framework="tensorflow",
                phase=search(r"[-_/](train|inference)[-_/.]", file.words),
                precision=search(r"[-_/](fp16|fp32)[-_/.]", file.words),
                devices=whole(row["num_gpu"]),
                nodes=1,
                device=re.sub(r"^Lambda Cloud — |^\d+x |(?<= )NVLink$", "", re.sub(r"^Lambda Cloud — ", "", name)).strip(),
                device_kind="gpu",
                server="Lambda Cloud" if name.startswith("Lambda Cloud") else "",
                interconnect="NVLink" if name.endswith("NVLink") else "",
                data="synthetic" if search(r"[-_/](syn)[-_/.]", file.words) else "",
                speed=speed,
                raw={"name_gpu": name},
            )


def _table(file: File) -> Table:
    found = json_table(file) or csv_table(file)
    assert found
    return found

"""TensorFlow's tutorial benchmark: `Forward across 100 steps, 0.131 +/- 0.001 sec / batch`, and the same forward-backward."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.importing.source_file import NUMBER, Entry, File, first_group, whole_number
from steptime.importing.tensorflow_log import gpu_name

TOOL = "alexnet_benchmark"

LAYER = re.compile(r"^conv1[ \t]+\[(\d+), \d+, \d+, \d+\]", re.MULTILINE)
RESULT = re.compile(
    rf"^(?:(\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)\S*[ \t]+)?(Forward|Forward-backward) across (\d{{1,9}}) steps, "
    rf"({NUMBER}|nan|inf) \+/- ({NUMBER}|nan) sec / batch",
    re.MULTILINE,
)


def looks_like(file: File) -> bool:
    return "sec / batch" in file.text and bool(LAYER.search(file.head) and RESULT.search(file.text))


def entries(file: File) -> Iterator[Entry]:
    """Its network is AlexNet's five convolutions without the dense layers; the training pass has no update in it."""
    batch = whole_number(first_group(LAYER.pattern, file.text))
    yield from passes(file, model="alexnet_conv", batch=batch, precision="fp32", notes=("the script computes in float32",))


def passes(file: File, model: str, batch: int, precision: str = "", notes: tuple[str, ...] = ()) -> Iterator[Entry]:
    """One entry for each `across` line; two suites print these."""
    gpu = gpu_name(file.text)
    for match in RESULT.finditer(file.text):
        when, which, steps, seconds, spread = match.groups()
        training = which != "Forward"
        yield Entry(
            line=file.line_of(match.start(2)),
            model=model,
            framework="tensorflow",
            phase="training" if training else "inference",
            precision=precision,
            batch=batch,
            devices=1,
            nodes=1,
            device=gpu,
            device_kind="gpu" if gpu else "",
            data="synthetic",
            data_store="dram",
            started=when or "",
            seconds=float(seconds),
            n=int(steps),
            raw={"result": match.group(0)[-80:]},
            others={"seconds_spread": float(spread)},
            notes=[*notes, "forward and backward, without an update of the parameters"] if training else list(notes),
        )

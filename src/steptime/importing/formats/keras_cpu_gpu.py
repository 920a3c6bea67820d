"""minimaxir/keras-cntk-benchmark and its CPU/GPU sequel: a CSV line `epoch,elapsed,loss,..` per epoch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.importing.source_file import Entry, File, Refused, first_group, number
from steptime.importing.tables import csv_table

TOOL = "Keras CPU/GPU benchmark"


def looks_like(file: File) -> bool:
    return file.head.startswith(("epoch,elapsed,loss", "epoch,elapsed,acc"))


def entries(file: File) -> Iterator[Entry]:
    """Seconds per epoch. The file does not say how many samples an epoch has, so there is no speed."""
    table = csv_table(file)
    if not table or not table.rows:
        raise Refused("no epochs", 1)
    elapsed, losses = [], []
    for line, row in table.rows:
        seconds = number(row.get("elapsed"))
        if seconds is None or not seconds > 0:
            raise Refused(f"epoch {row.get('epoch')} took '{row.get('elapsed')}' s", line)
        elapsed.append(seconds)
        losses.append(number(row.get("loss")))
    stem = file.name.removesuffix(".csv")
    backend = first_group(r"_(tensorflow|cntk|theano|mxnet)$", stem) or "tensorflow"
    setting, model = _setting(file, re.sub(rf"_{backend}$", "", stem))
    accuracy = number(table.rows[-1][1].get("val_acc"))
    others = {"epoch_seconds": sum(elapsed) / len(elapsed), "epochs": float(len(elapsed)), "run_seconds": sum(elapsed)}
    yield Entry(
        line=table.rows[0][0],
        model=model,
        framework="keras",
        phase="training",
        devices=1,
        nodes=1,
        device_kind="gpu" if setting.startswith("gpu") else "cpu" if setting.startswith("cpu") else "",
        threads=int(first_group(r"cpu(\d{1,4})$", setting) or 0),
        data="real",
        others=others | ({"validation_accuracy": accuracy} if accuracy is not None else {}),
        first_loss=losses[0],
        last_loss=losses[-1],
        settings={"build": first_group(r"^cpu-(\w+)", setting), "keras_backend": backend},
        raw={"setting": setting, "backend": backend},
    )


def _setting(file: File, stem: str) -> tuple[str, str]:
    """`logs/cpu-pip/cpu16/mnist_cnn_tensorflow.csv`, or the same with underscores for slashes."""
    flat = re.match(r"logs_(cpu-\w+?_cpu\d+|gpu)_(.+)$", stem)
    if flat:
        return flat.group(1).replace("_", "/"), flat.group(2)
    folders = [part for part in file.path_text.split("/")[:-1] if re.fullmatch(r"(?:cpu|gpu)[\w-]*", part)]
    return "/".join(folders[-2:]), stem

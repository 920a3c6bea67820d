"""Logs of tf_cnn_benchmarks, bare or wrapped by Lambda's scripts, which strip blanks and append a Unix time to step lines.

The log says neither precision nor server: they are in the path, as is the thermal log that Lambda's scripts write beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from steptime.core.schema import Status
from steptime.importing.source_file import NUMBER, Entry, File, SupplementaryFile, first_group, number, whole_number
from steptime.importing.tensorflow_log import gpu_name

TOOL = "tf_cnn_benchmarks"

HEADER = re.compile(r"^[ \t]*TensorFlow:[ \t]+(\S+)[ \t]*\r?\n[ \t]*Model:[ \t]+(\S+)", re.MULTILINE)
TOTAL = re.compile(rf"^[ \t]*total images/sec:[ \t]*({NUMBER}|nan|inf)", re.MULTILINE)
STEP = re.compile(
    rf"^[ \t]*(\d{{1,9}})[ \t]+images/sec:[ \t]*({NUMBER}|nan|inf)[ \t]*\+/-[ \t]*({NUMBER}|nan)[ \t]*\(jitter = ({NUMBER}|nan)\)"
    rf"(?:[ \t]+({NUMBER}|-?nan|-?inf))?([^\n]*)",
    re.MULTILINE,
)
EVAL_STEP = re.compile(rf"^[ \t]*(\d{{1,9}})[ \t]+({NUMBER}) examples/sec", re.MULTILINE)
ACCURACY = re.compile(rf"Accuracy @ 1 = ({NUMBER}) Accuracy @ 5 = ({NUMBER})")
SCRIPT = re.compile(r"tf_cnn_benchmarks(?:/\w+)?\.py")
ERROR = re.compile(r"^[ \t]*([\w.]{0,200}(?:Error|Exception)\b(?:[:(][^\n]*)?)[ \t]*$", re.MULTILINE)
OOM = re.compile(r"ResourceExhaustedError|OOM when allocating|Resource exhausted: (?:OOM|Out of memory)|CUDA_ERROR_OUT_OF_MEMORY")
TIME = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.\d+:", re.MULTILINE)
LAMBDA = re.compile(
    r"(?:logs[_/])?([^/]+?)\.logs[_/](syn|real)-([a-z_]+)-(fp16|fp32)-(\d+)gpus(-[a-z-]+)?[_/]([a-z0-9_]+)-(\d+)[_/](throughput|thermal)[_/](\d+)$"
)


@dataclass(frozen=True)
class PathSettings:
    """What the path says."""

    server: str = ""
    data: str = ""
    precision: str = ""
    devices: int = 0
    model: str = ""
    batch: int = 0
    phase: str = ""
    variables: str = ""
    augmentation: str = ""
    compile: str = ""


def looks_like(file: File) -> bool:
    if file.binary:
        return False
    if _thermal(file) or _metadata(file):
        return True
    head = file.head
    return "total images/sec:" in file.text or bool(HEADER.search(head)) or bool(SCRIPT.search(head))


def entries(file: File) -> Iterator[Entry]:
    if _metadata(file):
        raise SupplementaryFile("describes a machine; it is read with the logs beside it")
    if _thermal(file):
        raise SupplementaryFile("a thermal log; it is read with the throughput log beside it")
    starts = [match.start() for match in HEADER.finditer(file.text)] or [0]
    in_path = _path_settings(file)
    for start, end in zip(starts, [*starts[1:], len(file.text)], strict=True):
        yield _entry(file, in_path, start, end, before=0 if start == starts[0] else start)


def _entry(file: File, in_path: PathSettings, start: int, end: int, before: int) -> Entry:
    text = file.text[start:end]
    header = text[:4000]
    match = TOTAL.search(text)
    fields = _header(header, in_path)
    line = file.line_of(start + match.start()) if match else file.line_of(start)
    entry = replace(
        fields,
        line=line,
        device=gpu_name(file.text, before, end) if fields.device_kind != "cpu" else "",
        server=in_path.server,
        precision=in_path.precision or _precision(file.path_text),
        data_store=_staged(file.path_text),
        framework="tensorflow",
        started=_started(text, file.text[before:end]),
        others=_thermal_of(file),
        raw=fields.raw | _metadata_of(file),
    )
    if not match:
        return _failure(entry, text)
    return _measured(entry, text, number(match.group(1)))


def _header(header: str, in_path: PathSettings) -> Entry:
    total = whole_number(first_group(rf"^[ \t]*Batch size:[ \t]+({NUMBER}) global", header))
    each = whole_number(first_group(rf"^[ \t]*({NUMBER}) per device", header))
    listed = re.findall(r"'([^']+)'", first_group(r"^[ \t]*Devices:[ \t]+\[([^\]\n]*)\]", header))
    devices = len(listed) or (total // each if each and total % each == 0 else in_path.devices)
    batch, notes = _batch(total, each, devices)
    nodes = len({match.group(1) for match in (re.search(r"task:?(\d+)", name) for name in listed) if match}) or 1
    dataset = first_group(r"^[ \t]*Dataset:[ \t]+([^\n]+)", header).strip()
    mode = first_group(r"^[ \t]*Mode:[ \t]+([^\n]+)", header).strip().lower().replace("benchmarkmode.", "")
    kind = "cpu" if any("cpu" in name for name in listed) else "gpu" if listed or in_path.devices else ""
    return Entry(
        model=first_group(r"^[ \t]*Model:[ \t]+(\S+)", header) or in_path.model,
        version=first_group(r"^[ \t]*TensorFlow:[ \t]+(\S+)", header),
        phase=mode or in_path.phase,
        batch=batch or in_path.batch,
        devices=devices // nodes if devices % nodes == 0 else devices,
        nodes=nodes if devices else 0,
        device_kind=kind,
        data="synthetic" if "synthetic" in dataset.lower() else dataset or in_path.data,
        optimizer=first_group(r"^[ \t]*Optimizer:[ \t]+(\S+)", header),
        notes=notes,
        settings={
            "layout": first_group(r"^[ \t]*Data format:[ \t]+(\S+)", header).lower(),
            "variables": first_group(r"^[ \t]*Variables:[ \t]+(\S+)", header) or in_path.variables,
            "allreduce": first_group(r"^[ \t]*AllReduce:[ \t]+(\S+)", header).replace("None", ""),
            "augmentation": in_path.augmentation,
            "compile": in_path.compile,
        },
        raw={
            "dataset": dataset,
            "variables": first_group(r"^[ \t]*Variables:[ \t]+(\S+)", header),
            "data format": first_group(r"^[ \t]*Data format:[ \t]+(\S+)", header),
            "allreduce": first_group(r"^[ \t]*AllReduce:[ \t]+(\S+)", header),
            "num batches": first_group(r"^[ \t]*Num batches:[ \t]+(\S+)", header),
        },
    )


def _batch(total: int, each: int, devices: int) -> tuple[int, list[str]]:
    """Of one device. The speed is that of all devices, so where the log contradicts itself the whole batch counts."""
    if not (total and each and devices) or total == each * devices:
        return each, []
    log_says = f"the log says {total} global, {each} per device and {devices} devices"
    if total % devices:
        return each, [f"{log_says}; taken as {each} on each"]
    return total // devices, [f"{log_says}; taken as {total} / {devices} = {total // devices} on each"]


def _measured(entry: Entry, text: str, speed: float | None) -> Entry:
    """The total is the speed; uncertainty and jitter are those of the last step line."""
    steps = STEP.findall(text)
    losses = [number(step[4].replace("-nan", "nan")) for step in steps if step[4]]
    notes = ["every printed loss is nan"] if losses and all(loss != loss for loss in losses) else []
    others = dict(entry.others)
    accuracy = ACCURACY.search(text)
    if accuracy:
        others |= {"top1_accuracy": float(accuracy.group(1)), "top5_accuracy": float(accuracy.group(2))}
    return replace(
        entry,
        speed=speed,
        uncertainty=number(steps[-1][2]) if steps else None,
        jitter=number(steps[-1][3]) if steps else None,
        n=int(steps[-1][0]) if steps else None,
        first_loss=losses[0] if losses else None,
        last_loss=losses[-1] if losses else None,
        others=others,
        notes=[*entry.notes, *notes],
    )


def _failure(entry: Entry, text: str) -> Entry:
    """A log without a total: out of memory, an error, or cut off."""
    tail = "\n".join(line[:300] for line in text.splitlines()[-15:])
    if OOM.search(text):
        wanted = first_group(r"((?:OOM when allocating|Out of memory while trying)[^\n]{0,160})", text)
        return replace(entry, status=Status.OUT_OF_MEMORY, message=wanted or "out of memory", log_tail=tail)
    errors = ERROR.findall(text)
    steps = STEP.findall(text) or EVAL_STEP.findall(text)
    reached = (
        f"the log ends after step {steps[-1][0]}, at {steps[-1][1]} images/sec" if steps else "the log ends before the first step"
    )
    return replace(entry, status=Status.CRASH, message=errors[-1] if errors else reached, log_tail=tail)


def _started(text: str, around: str) -> str:
    """Lambda's wrapper appends the Unix time, which is sure to be UTC; TensorFlow's own stamps are in local time."""
    step = STEP.search(text)
    stamp = re.search(r"[ \t](\d{10})\s*$", step.group(6)) if step else None
    return stamp.group(1) if stamp else first_group(TIME.pattern, around)


def _precision(words: str) -> str:
    return first_group(r"(?:^|[-_/.])(fp16|fp32|float16|float32)(?=[-_/.]|$)", words)


def _staged(words: str) -> str:
    return first_group(r"(?i)(?:^|[-_/.:])(scratch|local|nvme|ssd|dram|lustre)(?=[-_/.:]|$)", words).lower()


def _path_settings(file: File) -> PathSettings:
    match = LAMBDA.search(file.path_text)
    if not match:
        return PathSettings()
    server, data, variables, precision, gpus, kind, model, batch, _, _ = match.groups()
    return PathSettings(
        server=server,
        data="synthetic" if data == "syn" else "real",
        precision=precision,
        devices=int(gpus),
        model=model,
        batch=int(batch),
        phase="inference" if "inference" in (kind or "") else "training",
        variables=variables,
        augmentation="distortions" if "distortions" in (kind or "") else "",
        compile="xla" if "XLA" in re.split(r"[-_]", server) else "",
    )


def _thermal(file: File) -> bool:
    match = LAMBDA.search(file.path_text)
    return bool(match and match.group(9) == "thermal")


def _metadata(file: File) -> bool:
    """Lines of a name, a tab and a value, in an order that depends on the version of Lambda's script."""
    names = {line.partition("\t")[0] for line in file.head.splitlines()[:40]} if file.name.endswith("metadata") else set()
    return {"Memory", "CPU"} <= names and bool(names & {"GPU 0", "CUDA", "TF", "Kernel"})


def _thermal_of(file: File) -> dict[str, float]:
    """Its columns are Unix time, a speed left over from an earlier run (not used), and a temperature for each GPU."""
    beside = file.sibling(file.name.replace("_throughput_", "_thermal_")) if "_throughput_" in file.name else None
    beside = beside or file.sibling(f"../thermal/{file.name}")
    if beside is None or len(beside.packed) > 1 << 20:
        return {}
    degrees = [number(cell) for line in beside.lines for cell in line.split(",")[2:] if cell.strip()]
    known = [value for value in degrees if value is not None and 0 < value < 200]
    return {"max_temperature_celsius": max(known)} if known else {}


def _metadata_of(file: File) -> dict[str, str]:
    flat = re.match(r"(.*\.logs_)", file.name)
    beside = file.sibling(flat.group(1) + "metadata") if flat else file.sibling("../../../metadata")
    if beside is None or not _metadata(beside):
        return {}
    pairs = (line.split("\t", 1) for line in beside.lines if "\t" in line)
    return {key.lower(): value for key, value in pairs if not key.startswith("GPU")}

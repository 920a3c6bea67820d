"""The Deep Learning Benchmarking Suite: logs of `__key__=json` lines (the last value wins) and its JSON stores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.core.schema import Status
from steptime.importing.source_file import Entry, File, Refused, number, rounding, whole_number
from steptime.importing.tensorflow_log import gpu_name

TOOL = "DLBS"

PAIR = re.compile(r"^__(.+?)__[ \t]*=[ \t]*(.*)$")
FAILED = ("failure", "failed", "error")


def looks_like(file: File) -> bool:
    if file.binary:
        return False
    head = file.head
    if "DLBS benchmark session summary" in head:
        return True
    if "__" in head and re.search(r"^__(?:exp|results)\.[\w.]+__[ \t]*=", head, re.MULTILINE):
        return True
    return head.lstrip()[:1] in ("{", "[") and ('"exp.' in head or '"parameters"' in head) and _stored(file) is not None


def entries(file: File) -> Iterator[Entry]:
    if file.head.lstrip()[:1] in ("{", "["):
        for number_, values in enumerate(_stored(file) or [], start=1):
            yield _entry(values, number_)
        return
    if "DLBS benchmark session summary" in file.head:
        raise Refused("the summary of a session; import the logs that it speaks of")
    values, line = _parse(file)
    yield _entry(values, line, gpu_name(file.text))


def _parse(file: File) -> tuple[dict[str, Any], int]:
    """Keys may contain `__`, values are JSON or plain text; of a repeated key the last value counts."""
    values: dict[str, Any] = {}
    line = 1
    for count, text in enumerate(file.lines, start=1):
        match = PAIR.match(text)
        if match:
            key, value = match.groups()
            values[key] = _value(value)
            line = count if key in ("results.throughput", "results.time") else line
    return values, line


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _stored(file: File) -> list[Mapping[str, Any]] | None:
    """The benchmarks of a store: `{"data": [{"exp.model": ..}, ..]}`, or the list alone."""
    content = file.json
    if isinstance(content, dict) and isinstance(content.get("parameters"), dict) and "data" not in content:
        raise Refused("the configuration of an experiment: it holds no results")
    rows = content.get("data") if isinstance(content, dict) else content
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows) and "exp.model" in rows[0]:
        return rows
    return None


def _entry(values: Mapping[str, Any], line: int, gpu: str = "") -> Entry:
    """The GPU is what the framework printed, where the experiment does not name one."""

    def get(key: str) -> str:
        return str(values.get(key) or "")

    speed, milliseconds = number(values.get("results.throughput")), number(values.get("results.time"))
    status = get("exp.status").lower()
    failed = status in FAILED or (speed is None and milliseconds is None)
    nodes, gpus = whole_number(values.get("exp.num_nodes")) or 1, whole_number(values.get("exp.num_local_gpus"))
    replicas = whole_number(values.get("exp.num_replicas") or values.get("exp.num_local_replicas"))
    kind = get("exp.device_type") or ("gpu" if get("exp.gpus") or gpus else "cpu")
    docker = _is_true(values.get("exp.docker"))
    return Entry(
        line=line,
        model=get("exp.model_title") or get("exp.model"),
        framework=get("exp.framework_title").replace("-nvtfcnn", "") or get("exp.framework"),
        version=get("exp.framework_ver"),
        phase=get("exp.phase"),
        precision=get("exp.dtype"),
        batch=whole_number(values.get("exp.replica_batch")),
        devices=gpus or max(replicas // nodes, 1),
        nodes=nodes,
        device=get("exp.device_title") or (gpu if kind == "gpu" else ""),
        device_kind=kind,
        server=get("exp.node_title") or get("exp.node_id"),
        interconnect=get("exp.interconnect"),
        runtime=f"docker {get('exp.docker_image')}" if docker else "bare metal",
        data=get("exp.data_name") if get("exp.data") not in ("", "synthetic") else get("exp.data"),
        data_store=get("exp.data_store"),
        started=re.sub(r"^(\d{4}-\d\d-\d\d):(\d\d:\d\d:\d\d):\d+$", r"\1 \2", get("results.start_time")),
        status=Status.CRASH if failed else Status.OK,
        message=(get("exp.status_msg") or "no results in the log") if failed else "",
        seconds=None if failed or milliseconds is None else milliseconds / 1e3,
        speed=None if failed else speed,
        rounding=rounding(values.get("results.throughput"), values.get("results.time")),
        settings=_settings(values),
        raw={key: get(key) for key in ("exp.id", "exp.model", "exp.framework", "exp.docker_image", "exp.status") if get(key)},
    )


def _settings(values: Mapping[str, Any]) -> dict[str, str]:
    """Of the framework that ran; a log has the parameters of all of them."""
    family = str(values.get("exp.framework_family") or values.get("exp.framework") or "")
    distortions = str(values.get(f"{family}.distortions") or values.get(f"{family}.use_distort_color") or "")
    return {
        "compile": "xla" if _is_true(values.get(f"{family}.use_xla")) else "",
        "augmentation": "distortions" if _is_true(distortions) else "",
        "variables": str(values.get(f"{family}.var_update") or ""),
        "tensor_core": "false" if str(values.get("exp.use_tensor_core")).lower() == "false" else "",
    }


def _is_true(value: Any) -> bool:
    return str(value).lower() == "true"

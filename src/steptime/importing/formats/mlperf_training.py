"""MLPerf training logs: `:::MLPv0.5.0` lines and `:::MLL` JSON lines. The figure is the time from run_start to run_stop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from steptime.core.schema import Status
from steptime.importing.source_file import NUMBER, Entry, File, Refused, SupplementaryFile, first_group, number, whole_number

TOOL = "MLPerf training"

V05 = re.compile(rf"^:::MLPv(\d+\.\d+\.\d+) (\S+) ({NUMBER}) \([^)]*\) (\w+)(?:: (.*))?$")
MLL = re.compile(rf"^:::MLLO?G? ({NUMBER}) (\w+): (\{{.*\}})$")
MLLOG = re.compile(r"^:::MLLOG (\{.*\})$")


def looks_like(file: File) -> bool:
    if file.binary:
        return False
    if ":::ML" in file.head and re.search(r"^:::MLP?(?:v|L|LOG)", file.head, re.MULTILINE):
        return True
    return _system(file)


def entries(file: File) -> Iterator[Entry]:
    if _system(file):
        raise SupplementaryFile("describes a system; it holds no result")
    events = list(_events(file))
    first = {key: (line, when, value) for line, when, key, value in reversed(events)}
    last = {key: (line, when, value) for line, when, key, value in events}
    if "run_start" not in first:
        raise Refused("no run_start")
    name = (
        _word(first.get("submission_benchmark")) or first_group(r"^:::MLPv\S+ (\S+) ", file.text) or _word(first.get("benchmark"))
    )
    batch = next((whole_number(first[k][2]) for k in ("global_batch_size", "input_batch_size") if k in first), 0)
    accuracy = [number(value) for _, _, key, value in events if key == "eval_accuracy"]
    started, stop = first["run_start"][1], last.get("run_stop")
    success = stop is not None and _succeeded(stop[2])
    known = [value for value in accuracy if value is not None]
    epochs = sum(1 for _, _, key, _ in events if key in ("eval_accuracy",))
    others = {"run_seconds": stop[1] - started} if stop else {}
    if others and not others["run_seconds"] > 0:
        raise Refused(f"run_stop is {others['run_seconds']:g} s after run_start", stop[0] if stop else 0)
    yield Entry(
        line=stop[0] if stop else first["run_start"][0],
        model=name,
        phase="training",
        global_batch=batch,
        server=_word(first.get("submission_platform")),
        device=_device(_word(first.get("submission_platform")) or file.path_text),
        data="real",
        optimizer=_word(first.get("opt_name")),
        started=f"{started:.0f}",
        status=Status.OK if success else Status.CRASH,
        message="" if success else "the run did not reach its target" if stop else "no run_stop: the run did not end",
        others=others | ({"accuracy": known[-1], "evaluations": float(epochs)} if known else {}),
        raw={key: _word(first.get(key)) for key in ("submission_org", "submission_division", "submission_status")},
        notes=["time to the target accuracy; MLPerf's log has no speed"],
    )


Event = tuple[int, float, str, Any]


def _events(file: File) -> Iterator[Event]:
    """Line, Unix time, key, value. In `:::MLL` the status of run_stop is among the metadata."""
    for count, text in enumerate(file.lines, start=1):
        if not text.startswith(":::ML"):
            continue
        old, new, newest = V05.match(text), MLL.match(text), MLLOG.match(text)
        if old:
            value = _json(old.group(5))
            value = value.get("value", value) if isinstance(value, dict) and old.group(4) != "run_stop" else value
            yield count, float(old.group(3)), old.group(4), value
        elif new or newest:
            event = _json((new or newest).group(3 if new else 1))  # type: ignore[union-attr]
            if not isinstance(event, dict):
                raise Refused("not JSON after the key", count)
            when = float(new.group(1)) if new else (number(event.get("time_ms")) or 0.0) / 1e3
            key = new.group(2) if new else str(event.get("key"))
            yield count, when, key, event.get("metadata") if key == "run_stop" else event.get("value")


def _succeeded(about: Any) -> bool:
    """`{"success": true}`, the same as a string, `{"status": "success"}`, or that word alone."""
    status = about.get("status", about.get("success")) if isinstance(about, dict) else about
    return str(status).strip().lower() in ("success", "true")


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return text


def _word(event: tuple[int, float, Any] | None) -> str:
    return event[2] if event and isinstance(event[2], str) else ""


def _device(words: str) -> str:
    return first_group(r"(tpu-?v\d)", words.lower())


def _system(file: File) -> bool:
    head = file.head
    if head.lstrip()[:1] != "{" or '"division"' not in head:
        return False
    return '"accelerator' in head or '"nodes"' in head or '"host_processor' in head

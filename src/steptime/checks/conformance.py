"""Tests whether a worker, in any language, follows docs/worker-protocol.md, rule by rule."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from steptime.core.models import zoo
from steptime.core.models.portable import GRAPH, portable
from steptime.core.schema import FAILURES, Budget, Case, Job, Record, Status, to_json
from steptime.core.stats.invariants import broken_invariant
from steptime.core.stats.summary import summarise
from steptime.launch.local import EVENTS_VARIABLE

LIMIT_SECONDS = 120.0
ORPHAN_SECONDS = 20.0
Finding = tuple[str, str]
"""the rule, and how the worker breaks it; empty if it does not"""


def conformance(command: Sequence[str], backend: str) -> Iterator[Finding]:
    """One finding per rule of the protocol."""
    case = Case("mlp", backend, 8, threads=1, model_options={"layers": 1, "width": 16}, budget=Budget(min_steps=5, max_steps=12))
    with tempfile.TemporaryDirectory(prefix="steptime-conformance-") as name:
        yield from _measured(command, Path(name) / "measured", case)
        yield from _refused(command, Path(name) / "refused", dataclasses.replace(case, model="no such model"))
        yield from _orphaned(
            command, Path(name) / "orphaned", dataclasses.replace(case, budget=Budget(target=1e-9, max_seconds=1e6))
        )


def _measured(command: Sequence[str], folder: Path, case: Case) -> Iterator[Finding]:
    code, events, log = _run(command, folder, case)
    yield "ends with exit code 0", "" if code == 0 else f"{code}: {log}"
    record, problem = _record(folder)
    yield "leaves a record.json that matches the schema", problem
    kinds = [event.get("event") for event in events]
    yield "sends heartbeats", "" if "alive" in kinds else f"events seen: {kinds[:5]}"
    left = sorted(path.name for path in folder.iterdir() if path.name.endswith((".tmp", ".part")))
    yield "leaves no half-written file", ", ".join(left)
    if record is None:
        return
    yield "measures the case", "" if record.status == Status.OK else f"{record.status}: {record.message}"
    same = (record.id, record.case, record.sweep) == ("conformance", case, "s")
    yield "returns id, case and sweep unchanged", "" if same else f"id {record.id}, sweep {record.sweep}, case {record.case}"
    yield "keeps the invariants", broken_invariant(record) if record.status == Status.OK else ""
    yield "computes the summary as the protocol defines it", _summary_differs(record)


def _refused(command: Sequence[str], folder: Path, case: Case) -> Iterator[Finding]:
    code, _, log = _run(command, folder, case)
    record, problem = _record(folder)
    refused = record is not None and record.status in FAILURES and bool(record.message) and code == 0
    seen = problem or (f"status {record.status}, message '{record.message}'" if record else "") + f", exit code {code}: {log}"
    yield "records what it cannot do", "" if refused else seen


def _orphaned(command: Sequence[str], folder: Path, case: Case) -> Iterator[Finding]:
    """Closes the pipe after the first event, as when the controller dies."""
    reader, writer = os.pipe()
    process = _start(command, folder, case, writer)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    try:
        process.wait(ORPHAN_SECONDS)
        yield "ends when the controller is gone", ""
    except subprocess.TimeoutExpired:
        yield "ends when the controller is gone", f"still runs after {ORPHAN_SECONDS:g} s"
    finally:
        process.kill()
        process.wait()


def _start(command: Sequence[str], folder: Path, case: Case, writer: int) -> subprocess.Popen[bytes]:
    folder.mkdir()
    (folder / "job.json").write_text(to_json(Job("conformance", case, sweep="s")))
    if case.model in zoo.models():
        (folder / GRAPH).write_text(json.dumps(portable(zoo.build(case.model, case.model_options))))
    environment = {**os.environ, EVENTS_VARIABLE: str(writer)}
    with open(folder / "log.txt", "wb") as log:
        return subprocess.Popen(
            [*command, folder], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, env=environment, pass_fds=(writer,)
        )


def _run(command: Sequence[str], folder: Path, case: Case) -> tuple[int, list[dict[str, object]], str]:
    """Exit code, events, last line of the log."""
    reader, writer = os.pipe()
    process = _start(command, folder, case, writer)
    os.close(writer)
    try:
        code = process.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    with open(reader, "rb") as pipe:
        events = [json.loads(line) for line in pipe.read().splitlines() if line.startswith(b"{")]
    lines = (folder / "log.txt").read_text(errors="replace").strip().splitlines()
    return code, events, lines[-1] if lines else ""


def _record(folder: Path) -> tuple[Record | None, str]:
    try:
        return msgspec.json.decode((folder / "record.json").read_bytes(), type=Record), ""
    except FileNotFoundError:
        return None, "is missing"
    except msgspec.DecodeError as problem:
        return None, str(problem)


def _summary_differs(record: Record) -> str:
    if not record.steps or not record.summary:
        return "" if record.status != Status.OK else "is missing"
    wanted = summarise(record.steps.seconds[record.steps.steady_start :], record.case.effective_batch)
    for field in ("n", "mean_seconds", "mean_speed", "uncertainty", "jitter", "p50_seconds", "min_seconds", "max_seconds"):
        ours, theirs = getattr(wanted, field), getattr(record.summary, field)
        if not math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-12):
            return f"{field} is {theirs}, but its steps give {ours}"
    return ""

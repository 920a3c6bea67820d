"""`python steptime-worker.pyz --deliver JOB_DIR STORE`: the last act of a batch job puts its record into the store.

So no process needs to wait for a job, and a script that a person submits leaves a record like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Optional

from steptime.core.atomic import write_text
from steptime.core.schema import Allocation, Failure, Job, Record, Status, from_json, timestamp, to_json

LAUNCH_FAILED = "launch_failed"
"""a file in the job's folder: why its script did not start the worker"""
LONGEST_MESSAGE = 500


def deliver(folder: Path, store: Path, environment: Mapping[str, str]) -> int:
    try:
        job = from_json(Job, (folder / "job.json").read_text())
        record = _not_launched(job, folder) or from_json(Record, (folder / "record.json").read_text())
    except (OSError, ValueError, TypeError) as problem:
        print(f"steptime: no record to deliver: {problem}", file=sys.stderr)
        return 1
    allocation = allocation_of(environment, job)
    whole = replace(record, id=record_id(job, allocation.job), allocation=allocation)
    target = store / "records" / whole.started[:4] / whole.started[5:7]
    try:
        target.mkdir(parents=True, exist_ok=True)
        write_text(target / f"{whole.id}.json", to_json(whole))
    except OSError as problem:
        print(f"steptime: cannot write to {target}: {problem.strerror}; the record stays in {folder}", file=sys.stderr)
        return 1
    return 0


def launch_problem(folder: Path) -> str:
    """In one line; empty if the worker was started."""
    try:
        text = (folder / LAUNCH_FAILED).read_text(errors="replace")
    except OSError:
        return ""
    return " ".join(text.split())[:LONGEST_MESSAGE]


def _not_launched(job: Job, folder: Path) -> Optional[Record]:
    problem = launch_problem(folder)
    if not problem:
        return None
    from steptime.core.machine.describe import describe

    failed = Status.LAUNCH_FAILED
    return Record(job.id, failed, job.case, timestamp(), problem, job.sweep, machine=describe(), failure=Failure())


def record_id(job: Job, batch_job: str) -> str:
    """Each attempt at a case has a record of its own; whoever stores it uses the same id."""
    return f"{job.id}-{batch_job}"


def allocation_of(environment: Mapping[str, str], job: Job) -> Allocation:
    nodes = environment.get("STEPTIME_NODES", "")
    return Allocation(
        site=environment.get("STEPTIME_SITE", ""),
        job=environment.get("STEPTIME_JOB", ""),
        partition=environment.get("STEPTIME_PARTITION", ""),
        nodes=nodes.split(",") if nodes else [],
        gres=environment.get("STEPTIME_GRES", ""),
        visible_devices=environment.get("CUDA_VISIBLE_DEVICES", ""),
        ran_on=job.device or job.case.device,
        queue_seconds=queue_seconds(environment.get("STEPTIME_QUEUED", "")),
    )


def queue_seconds(times: str) -> Optional[float]:
    """From 'SUBMITTED STARTED', two times of the same clock."""
    try:
        submitted, started = (datetime.fromisoformat(word) for word in times.split())
    except ValueError:
        return None
    return (started - submitted).total_seconds()

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
from steptime.core.schema import Allocation, Job, Record, from_json, to_json


def deliver(folder: Path, store: Path, environment: Mapping[str, str]) -> int:
    try:
        record = from_json(Record, (folder / "record.json").read_text())
        job = from_json(Job, (folder / "job.json").read_text())
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

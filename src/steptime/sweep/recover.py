"""Records what a process that died left behind."""

from __future__ import annotations

import msgspec

from steptime.core.schema import FailureCause, Job, Status
from steptime.launch.local import Ending, failure, record_of
from steptime.store.files import Store
from steptime.store.record_search import records_of_sweep
from steptime.sweep.state import Sweep, folder_of


def recover(store: Store, sweep: Sweep) -> None:
    """Stores the records of workers that had finished, and a `cancelled` record of each case that was running."""
    stored = {record.id for record in records_of_sweep(store, sweep.id)}
    for path in folder_of(store, sweep).glob("*/job.json"):
        try:
            job = msgspec.json.decode(path.read_bytes(), type=Job)
        except (OSError, msgspec.DecodeError):
            continue
        if job.id in stored:
            continue
        if (path.parent / "record.json").exists():
            store.put(record_of(job, path.parent, Ending()))
        else:
            cause = FailureCause(Status.CANCELLED, "steptime stopped while this case ran")
            store.put(failure(job, cause, path.parent, Ending()))

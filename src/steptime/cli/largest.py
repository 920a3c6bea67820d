"""`steptime run --find-max-batch`: each configuration with the largest batch that fits."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from steptime.core.errors import CaseFailed
from steptime.core.schema import Budget, Case, Status, case_key
from steptime.launch.fork_server import ForkServers
from steptime.store.columns import case_words
from steptime.store.files import Store
from steptime.sweep import state
from steptime.sweep.largest import largest_batch
from steptime.sweep.run import Settings, run_sweep
from steptime.sweep.watcher import MessageWatcher

TRIAL = Budget(min_steps=1, max_steps=3, max_seconds=1e9)
"""enough steps to allocate every buffer: the optimiser's come with the first update"""


def _print_message(line: str) -> None:
    print(line, file=sys.stderr)


def with_largest_batches(store: Store, cases: list[Case], settings: Settings) -> list[Case]:
    """One case per configuration, whatever its batches. Every try is a record of its own sweep."""
    first: dict[str, Case] = {}
    for case in cases:
        first.setdefault(case_key(replace(case, batch=1, repeat=0)), case)
    with (
        tempfile.TemporaryDirectory(prefix="steptime-fork-server-") as folder,
        contextlib.closing(ForkServers(Path(folder) / "fork-server")) as fork_servers,
    ):
        largest = [replace(case, batch=_search(store, case, settings, fork_servers)) for case in first.values()]
    return [case for case in largest if case.batch]


def _search(store: Store, case: Case, settings: Settings, fork_servers: ForkServers) -> int:
    """0 if the case fails for another reason than memory: then there is no largest batch."""

    def fits(batch: int) -> bool:
        trial = replace(case, batch=batch, budget=replace(TRIAL, limit_seconds=case.budget.limit_seconds))
        sweep = state.begin(store, [trial], "find-max-batch")
        (record,) = run_sweep(
            store, sweep, replace(settings, contended_rounds=0, retry=""), MessageWatcher(_print_message), fork_servers
        )
        print(f"{case_words(trial)}: {record.status}", file=sys.stderr)
        if record.status not in (Status.OK, Status.OUT_OF_MEMORY):
            raise CaseFailed(record.status, record.message)
        return record.status == Status.OK

    try:
        return largest_batch(case.batch, fits)
    except CaseFailed as problem:
        print(f"{case_words(case)}: no largest batch: {problem.kind}: {problem}", file=sys.stderr)
        return 0

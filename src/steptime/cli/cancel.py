"""`steptime cancel`: stop a running sweep."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time

import click

from steptime.cli.options import open_store, store_option
from steptime.core.errors import UsageError
from steptime.store.files import Store
from steptime.sweep import live
from steptime.sweep.state import Sweep, find_sweep, folder_of

PATIENCE_SECONDS = 15.0


@click.command("cancel")
@click.argument("name", required=False, default="", metavar="[SWEEP]")
@store_option
def command(name: str, store_path: str | None) -> int:
    """Stop SWEEP (default: the newest). Finished cases keep their records; `steptime resume` continues the sweep."""
    store = open_store(store_path)
    sweep = find_sweep(store, name)
    folder = folder_of(store, sweep)
    if sweep.site:
        return _cancel_on_site(store, sweep)
    now = live.read(folder)
    if not live.running(folder) or now is None:
        raise UsageError(f"sweep {sweep.id} is not running; see `steptime status`")
    if now.host != platform.node():
        raise UsageError(f"sweep {sweep.id} runs on {now.host}; cancel it there")
    os.kill(now.pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE_SECONDS
    while live.running(folder) and time.monotonic() < until:
        time.sleep(0.1)
    print(f"{sweep.id} {'does not respond' if live.running(folder) else 'is cancelled'}")
    return 0


def _cancel_on_site(store: Store, sweep: Sweep) -> int:
    """Works on any machine that reaches the cluster; a process that waits for the sweep notices it too."""
    from steptime.sweep.remote import cancel_on_site, collect_cancelled

    jobs = cancel_on_site(store, sweep, lambda line: print(line, file=sys.stderr))
    if not jobs:
        raise UsageError(f"sweep {sweep.id} has no jobs on {sweep.site}; see `steptime status`")
    collect_cancelled(store, sweep, PATIENCE_SECONDS)
    print(f"{sweep.id} is cancelled: {'job' if len(jobs) == 1 else 'jobs'} {', '.join(jobs)} on {sweep.site}")
    return 0

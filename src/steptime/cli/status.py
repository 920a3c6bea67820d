"""`steptime status`: show the progress of each sweep."""

from __future__ import annotations

import dataclasses
import json
import time

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.cli.printing import duration, speed, table
from steptime.core.errors import UnknownName
from steptime.sweep.state import sweeps
from steptime.sweep.status import SweepStatus, statuses

HEADER = ("sweep", "plan", "state", "done", "failed", "contended", "waiting", "left", "now")
EVERY_SECONDS = 1.0


@click.command("status")
@click.argument("sweep", required=False, default="", metavar="[SWEEP]")
@click.option("--watch", is_flag=True, help="Refresh every second until all sweeps are finished.")
@json_option
@store_option
def command(sweep: str, watch: bool, as_json: bool, store_path: str | None) -> int:
    """Show the progress of every sweep, or of SWEEP: done, failed by kind, running with live speed, waiting, time left."""
    store = open_store(store_path)
    while True:
        shown = statuses(store, sweep)
        if sweep and not shown:
            raise UnknownName("sweep", sweep, [known.id for known in sweeps(store)])
        if watch and not as_json:
            click.clear()
        _print(shown, as_json)
        if not watch or all(s.state != "running" for s in shown):
            return 0
        time.sleep(EVERY_SECONDS)


def _print(shown: list[SweepStatus], as_json: bool) -> None:
    if as_json:
        for status in shown:
            print(json.dumps(dataclasses.asdict(status)), flush=True)
    elif shown:
        print(table(HEADER, [_cells(status) for status in shown]))
    else:
        print("no sweeps yet; `steptime run` starts one")


def _cells(s: SweepStatus) -> list[str]:
    failed = ", ".join(f"{count} {kind}" for kind, count in s.failed.items())
    left = duration(s.left_seconds) if s.state != "finished" and s.left_seconds is not None else ""
    counts = [f"{s.done}/{s.total}", failed, str(s.contended or ""), str(s.waiting or "")]
    return [s.sweep, s.name, s.state, *counts, left, _now(s)]


def _now(s: SweepStatus) -> str:
    if s.jobs and (s.state == "running" or "unknown" in s.jobs):
        return "; ".join([f"{s.site}: " + ", ".join(f"{number} {state}" for state, number in s.jobs.items()), *s.notes])
    if not s.running:
        return f"steptime resume {s.sweep}" if s.state == "interrupted" else ""
    again = f"again {s.running['again_number']}/{s.running['again_total']}: " if s.running["again_total"] else ""
    if s.running["mean_speed"] is None:
        return f"{again}{s.running['case']}: {s.running['phase']}"
    figures = f"{speed(s.running['mean_speed'])} samples/s +/- {speed(s.running['uncertainty'])}"
    return f"{again}{s.running['case']}: {figures} (jitter = {speed(s.running['jitter'])})"

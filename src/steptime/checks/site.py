"""Checks a site: tiny jobs try each backend and each directory on each device type."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from steptime.core.backends.base import find, names
from steptime.core.schema import Budget, Case, Phase, Record, Status
from steptime.environments.install import environment
from steptime.schedulers.choose import scheduler_of
from steptime.schedulers.directories_script import RESULT, directories_text, parse_directories
from steptime.schedulers.request import request_of, request_words
from steptime.schedulers.scheduler import NoAnswer, Refused, Scheduler
from steptime.schedulers.site import Site
from steptime.store.files import Store, new_id
from steptime.sweep import state
from steptime.sweep.remote import run_on_site
from steptime.sweep.run import Settings
from steptime.sweep.watcher import MessageWatcher

TRIAL = Budget(min_steps=2, max_steps=5, max_seconds=20.0, limit_seconds=180.0)


@dataclass(frozen=True)
class Finding:
    what: str
    """device k80 | backend pytorch on k80 | directory scratch on k80"""
    works: bool
    seen: str


def check_site(site: Site, folder: Path, patience_seconds: float, say: Callable[[str], None]) -> Iterator[Finding]:
    """`folder` is for the jobs and their logs; the nodes must see it."""
    scheduler, store = scheduler_of(site), Store(folder)
    store.prepare()
    jobs = {kind: _look(site, kind, folder, scheduler) for kind in site.devices} if site.directories else {}
    cases = [trial(site, backend, kind) for kind in site.devices for backend in backends_of(site)]
    sweep = state.begin(store, cases, "check", site)
    for record in run_on_site(store, sweep, replace(site, retries=0), Settings(contended_rounds=0), MessageWatcher(say)):
        yield _finding(site, record)
    for kind, job in jobs.items():
        yield from _directories(site, kind, folder / f"directories-{kind}", job, scheduler, patience_seconds)


def backends_of(site: Site) -> list[str]:
    """Those that the site configures; else those that have an environment here; else one that needs none."""
    ready = [name for name in names() if find(name).environment_name and environment(find(name).environment_name).ready]
    return list(site.backends) or ready or ["reference"]


def trial(site: Site, backend: str, kind: str) -> Case:
    phases = find(backend).phases
    counts = site.devices[kind].counts
    case = Case("mnist_cnn", backend, 8, device=kind, devices=min(counts, default=1), budget=TRIAL)
    return replace(case, phase=Phase.TRAINING if Phase.TRAINING in phases else Phase(phases[0]))


def _finding(site: Site, record: Record) -> Finding:
    case, allocation = record.case, record.allocation
    what = f"{case.backend} on {request_words(request_of(site, case))}"
    if record.status == Status.OK and allocation and record.software:
        queue = f", {allocation.queue_seconds:.0f} s in the queue" if allocation.queue_seconds is not None else ""
        ran = f"{record.software.framework} {record.software.framework_version} on {allocation.ran_on}"
        modules = f", modules {' '.join(record.software.modules)}" if record.software.modules else ""
        used = f"by {record.software.interpreter}{modules}"
        return Finding(what, True, f"job {allocation.job} on {','.join(allocation.nodes)}{queue}; {ran}, {used}")
    return Finding(what, False, f"{record.status}: {record.message}")


def _look(site: Site, kind: str, folder: Path, scheduler: Scheduler) -> str:
    """The job that checks the directories, or why there is none."""
    place = folder / f"directories-{kind}"
    place.mkdir()
    case = trial(site, "null", kind)
    text = directories_text(site, request_of(site, case), str(place), scheduler.script)
    (place / "script.sh").write_bytes(text.encode(errors="surrogateescape"))
    try:
        return scheduler.submit(place, f"steptime-{new_id()}")
    except (Refused, NoAnswer) as problem:
        return f"no job: {problem}"


def _directories(
    site: Site, kind: str, folder: Path, job: str, scheduler: Scheduler, patience_seconds: float
) -> Iterator[Finding]:
    until = time.monotonic() + patience_seconds
    while job.isdigit() and not (folder / RESULT).exists() and time.monotonic() < until:
        time.sleep(0.5)
    if not (folder / RESULT).exists():
        why = f"job {job} left no result within {patience_seconds:g} s" if job.isdigit() else job
        if job.isdigit():
            scheduler.cancel([job])
        yield Finding(f"directories on {kind}", False, why)
        return
    for name, problem, seen in parse_directories((folder / RESULT).read_text(errors="replace")):
        yield Finding(f"directory {name} on {kind}", not problem, problem or seen)

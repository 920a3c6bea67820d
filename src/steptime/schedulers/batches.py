"""Groups cases by what they request, and writes their job folders and scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steptime.core.backends.base import find
from steptime.core.errors import Unsupported
from steptime.core.schema import Case, Job, case_key, to_json
from steptime.environments.choose import interpreter
from steptime.launch.job_folder import job_folder, put_worker
from steptime.schedulers.journal import Entry, Submission, SubmissionJournal
from steptime.schedulers.request import Request, chunks, device_of, request_of, request_words
from steptime.schedulers.scheduler import ScriptDialect
from steptime.schedulers.script import Script, Task, script_text
from steptime.schedulers.site import Site
from steptime.store.columns import case_words
from steptime.store.files import new_id


@dataclass(frozen=True)
class Batch:
    """What is submitted at once: a job, or an array of jobs."""

    request: Request
    cases: Sequence[Case]
    array: bool


Refusal = tuple[Case, Unsupported]


def batches(site: Site, cases: Sequence[Case], largest_array: int) -> tuple[list[Batch], list[Refusal]]:
    """In the order of the cases; and those that the site cannot run, with the reason."""
    groups: dict[Request, list[Case]] = {}
    refused = []
    for case in cases:
        try:
            groups.setdefault(request_of(site, case), []).append(case)
        except Unsupported as problem:
            refused.append((case, problem))
    made = [
        Batch(request, [group[i] for i in chunk], array=len(group) >= site.arrays.at_least)
        for request, group in groups.items()
        for chunk in chunks(site, len(group), largest_array)
    ]
    return made, refused


def prepare(sweep_folder: Path, site: Site, batch: Batch, python: str, dialect: ScriptDialect) -> Submission:
    """Writes job folders, script and intent; does not talk to the scheduler yet."""
    entries = [_job_entry(sweep_folder, site, case) for case in batch.cases]
    tasks = [Task(entry.folder, case_words(case)) for entry, case in zip(entries, batch.cases, strict=True)]
    folder = _array_folder(sweep_folder) if batch.array else sweep_folder / entries[0].folder
    own = own_python(site, batch.request.backend, python)
    text = script_text(Script(site, batch.request, tasks, str(sweep_folder), batch.array, own), dialect)
    (folder / "script.sh").write_bytes(text.encode(errors="surrogateescape"))
    name = str(folder.relative_to(sweep_folder))
    return SubmissionJournal(sweep_folder).open(name, entries, batch.array, request_words(batch.request))


def own_python(site: Site, backend: str, chosen: str) -> str:
    """The user's choice, or our own environment where the site says nothing; empty: as the site says."""
    return "" if backend in site.backends and not chosen else str(interpreter(backend, chosen))


def _array_folder(sweep_folder: Path) -> Path:
    number = 1
    while True:
        folder = sweep_folder / f"array-{number:03}"
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1


def _job_entry(sweep_folder: Path, site: Site, case: Case) -> Entry:
    """Writes job.json and the worker. A folder that exists keeps its job id: attempts differ by their scheduler job."""
    folder = job_folder(sweep_folder, case)
    folder.mkdir(exist_ok=True)
    path = folder / "job.json"
    try:
        job = msgspec.json.decode(path.read_bytes(), type=Job)
    except (OSError, msgspec.DecodeError):
        job = _job(sweep_folder.name, site, case)
        put_worker(folder, sweep_folder)
        path.with_suffix(".part").write_text(to_json(job))
        path.with_suffix(".part").replace(path)  # last, so that a folder with job.json is whole
    return Entry(case_key(case), folder.name, job.id, case.budget.limit_seconds)


def _job(sweep_id: str, site: Site, case: Case) -> Job:
    device = device_of(site, case).device
    executed = dataclasses.replace(case, device=device)
    environment = find(case.backend).environment(executed)
    return Job(new_id(), case, sweep=sweep_id, environment=environment, device="" if device == case.device else device)

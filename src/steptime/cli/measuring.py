"""Measures a sweep and prints its results: what `run` and `resume` share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from steptime.cli.printing import RESULT_HEADER, half_width, print_steps, result_cells, table
from steptime.cli.progress import Display, display
from steptime.cli.run_options import MeasuringOptions
from steptime.core.errors import SetupError, UsageError
from steptime.core.schema import Case, Record, Status, Verdict, case_key, to_json
from steptime.environments.choose import interpreter
from steptime.schedulers.site import Site
from steptime.store.columns import full_row, row_of
from steptime.store.files import Store
from steptime.sweep import state
from steptime.sweep.run import Settings, run_sweep
from steptime.sweep.state import Sweep
from steptime.sweep.verdicts import best_of


def checked_settings(cases: Sequence[Case], site: Site | None, options: MeasuringOptions) -> Settings:
    """The settings of a sweep of these cases; refuses what cannot be measured before anything of the sweep is written."""
    if options.detach and not site:
        raise UsageError("--detach is for sites (--on SITE): local sweeps need this process running")
    check_interpreters(cases, site, options.python)
    return options.settings()


def run_and_print(store: Store, sweep: Sweep, site: Site | None, settings: Settings, options: MeasuringOptions) -> int:
    """Exit code 0 if every case has a figure, else 1."""
    records = []
    with display(len(sweep.cases)) as shown:
        for record in _records(store, sweep, site, settings, shown, options.detach):
            records.append(record)
            _print_one(record, options)
    if options.detach:
        return _detached(store, sweep, options.as_json)
    counted = _in_order(sweep.cases, [*best_of(records).values(), *_only_cancelled(records)])
    if not options.as_json:
        _print_all(counted, store, sweep)
    return 0 if all(record.status == Status.OK for record in counted) else 1


def check_interpreters(cases: Sequence[Case], site: Site | None, python: str) -> None:
    for backend in {case.backend for case in cases}:
        if site is None or backend not in site.backends or python:
            try:
                interpreter(backend, python)
            except SetupError as problem:
                remedy = f"; or configure it in {site.path}: [backends.{backend}]" if site else ""
                raise SetupError(f"{problem}{remedy}") from None


def _records(store: Store, sweep: Sweep, site: Site | None, settings: Settings, shown: Display, detach: bool) -> Iterator[Record]:
    if site is None:
        return run_sweep(store, sweep, settings, shown)
    from steptime.sweep.remote import run_on_site

    return run_on_site(store, sweep, site, settings, shown, detach)


def _only_cancelled(records: Sequence[Record]) -> list[Record]:
    """Records of cases that a user cancelled and that have no other record: not results, but listed."""
    best = best_of(records)
    ended = {case_key(record.case): record for record in records if record.status == Status.CANCELLED}
    return [record for key, record in ended.items() if key not in best]


def _in_order(cases: Sequence[Case], records: Sequence[Record]) -> list[Record]:
    place = {case_key(case): number for number, case in enumerate(cases)}
    return sorted(records, key=lambda record: place.get(case_key(record.case), len(place)))


def _detached(store: Store, sweep: Sweep, as_json: bool) -> int:
    from steptime.schedulers.journal import SubmissionJournal

    journal = SubmissionJournal(state.folder_of(store, sweep))
    jobs = [(journal.job(s), s) for s in journal.all() if journal.job(s)]
    for job, submission in jobs:
        if as_json:
            print(json.dumps({"sweep": sweep.id, "job": job, "name": submission.name, "cases": len(submission.entries)}))
    if not as_json:
        cases = sum(len(submission.entries) for _, submission in jobs)
        words = f"{_count(cases, 'case')} in {_count(len(jobs), 'job')} on {sweep.site}"
        print(f"{words}; `steptime status` shows their progress, `steptime resume` waits for them")
    return 0


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _print_one(record: Record, options: MeasuringOptions) -> None:
    if options.as_json:
        print(to_json(record) if options.full else json.dumps(full_row(record)), flush=True)
    elif options.steps_table:
        print_steps(record)


def _print_all(records: list[Record], store: Store, sweep: Sweep) -> None:
    rows = [row_of(record) for record in records]
    print(table(RESULT_HEADER, [result_cells(row) for row in rows]))
    print(f"\n{_count(len(rows), 'case')} of sweep {sweep.id}, in {store.root}")
    print("`steptime show last` explains the newest, `steptime export` gives CSV")
    for line in _remarks(records):
        print(line)


def _remarks(records: list[Record]) -> list[str]:
    """Weaknesses of the results, each with its remedy."""
    remarks = []
    measured = [(record, row_of(record)) for record in records if record.status == Status.OK]
    wide = [row["model"] for record, row in measured if half_width(row) > record.case.budget.target]
    if wide:
        longer = 4 * records[0].case.budget.max_seconds
        names = ", ".join(dict.fromkeys(wide))
        remarks.append(f"wider than the target: {names}; --max-seconds {longer:g} would about halve the intervals")
    crowded = [row for _, row in measured if row["verdict"] == Verdict.CONTENDED]
    if crowded:
        remarks.append(f"contended: {len(crowded)} of {len(records)}; something else used the machine, see `steptime show ID`")
    return remarks

"""Measuring a sweep and printing what came of it: what `run` and `resume` share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from steptime.cli.options import json_option, store_option
from steptime.cli.printing import RESULT_HEADER, half_width, print_steps, result_cells, table
from steptime.cli.progress import Display, display
from steptime.core.errors import SetupError, UnknownName, UsageError
from steptime.core.schema import OK, Case, Record, Status, Verdict, case_key, to_json
from steptime.environments.choose import interpreter
from steptime.schedulers.site import Site
from steptime.store.files import Store
from steptime.store.rows import full_row, row_of
from steptime.sweep import state
from steptime.sweep.run import Settings, run_sweep
from steptime.sweep.state import Sweep
from steptime.sweep.verdicts import RETRIES, best_of

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option("--python", default="", metavar="PATH", help="An interpreter that has the framework: venv, conda, module."),
    click.option("--retry", default="", metavar="WHICH", help="Of the cases with a record, run again: failed, contended, all."),
    click.option(
        "--contended-rounds", type=int, default=1, show_default=True, help="How often contended cases are measured again."
    ),
    click.option(
        "--heartbeat-seconds", type=float, default=30.0, show_default=True, help="Silence after which a worker is killed."
    ),
    click.option("--no-wait", is_flag=True, help="Measure even while another steptime measures on this machine."),
    click.option("--fresh", is_flag=True, help="A new interpreter for every case, not a fork of one that has the framework."),
    click.option("--detach", is_flag=True, help="On a site: return when all is submitted; see `steptime status`."),
    click.option("--steps-table", is_flag=True, help="Print step lines as tf_cnn_benchmarks does."),
    click.option("--full", is_flag=True, help="With --json: the whole record."),
    json_option,
    store_option,
)


def measuring_options(command: F) -> F:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def settings_of(given: dict[str, Any]) -> Settings:
    if given["retry"] not in RETRIES:
        raise UnknownName("--retry", given["retry"], [name for name in RETRIES if name])
    return Settings(
        python=given["python"],
        heartbeat_seconds=given["heartbeat_seconds"],
        wait_for_turn=not given["no_wait"],
        fresh=given["fresh"],
        retry=given["retry"],
        contended_rounds=given["contended_rounds"],
    )


def measure(store: Store, sweep: Sweep, given: dict[str, Any]) -> int:
    """Exit code 0 if every case has a figure, else 1."""
    settings = settings_of(given)
    site = state.site_of_sweep(store, sweep) if sweep.site else None
    if given["detach"] and not site:
        raise UsageError("--detach is for sites: --on SITE; here a case needs somebody who waits for it")
    check_interpreters(sweep.cases, site, given)
    records = []
    with display(len(sweep.cases)) as shown:
        for record in _records(store, sweep, site, settings, shown, given["detach"]):
            records.append(record)
            _print_one(record, given)
    if given["detach"]:
        return _detached(store, sweep, given["as_json"])
    counted = _in_order(sweep.cases, [*best_of(records).values(), *_only_cancelled(records)])
    if not given["as_json"]:
        _print_all(counted, store)
    return 0 if all(record.status == OK for record in counted) else 1


def check_interpreters(cases: Sequence[Case], site: Site | None, given: dict[str, Any]) -> None:
    for backend in {case.backend for case in cases}:
        if site is None or backend not in site.backends or given["python"]:
            try:
                interpreter(backend, given["python"])
            except SetupError as problem:
                raise SetupError(f"{problem}; or say in {site.path}: [backends.{backend}]" if site else str(problem)) from None


def _records(store: Store, sweep: Sweep, site: Site | None, settings: Settings, shown: Display, detach: bool) -> Iterator[Record]:
    if site is None:
        return run_sweep(store, sweep, settings, shown)
    from steptime.sweep.remote import run_on_site

    return run_on_site(store, sweep, site, settings, shown, detach)


def _only_cancelled(records: Sequence[Record]) -> list[Record]:
    """Cases that somebody ended by hand and that have no other record: they count for nothing, but are not forgotten."""
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
        print(f"{words}; `steptime status` shows how it goes, `steptime resume` waits for it")
    return 0


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _print_one(record: Record, given: dict[str, Any]) -> None:
    if given["as_json"]:
        print(to_json(record) if given["full"] else json.dumps(full_row(record)), flush=True)
    elif given["steps_table"]:
        print_steps(record)


def _print_all(records: list[Record], store: Store) -> None:
    rows = [row_of(record) for record in records]
    print(table(RESULT_HEADER, [result_cells(row) for row in rows]))
    print(
        f"\n{_count(len(rows), 'record')} in {store.root}; `steptime show last` explains the newest, `steptime export` gives CSV"
    )
    for line in _remarks(records):
        print(line)


def _remarks(records: list[Record]) -> list[str]:
    """What the results say against themselves, and what would mend it."""
    remarks = []
    measured = [(record, row_of(record)) for record in records if record.status == OK]
    wide = [row["model"] for record, row in measured if half_width(row) > record.case.budget.target]
    if wide:
        longer = 4 * records[0].case.budget.max_seconds
        names = ", ".join(dict.fromkeys(wide))
        remarks.append(f"wider than the target: {names}; --max-seconds {longer:g} would about halve the intervals")
    crowded = [row for _, row in measured if row["verdict"] == Verdict.CONTENDED]
    if crowded:
        remarks.append(f"contended: {len(crowded)} of {len(records)}; something else used the machine, see `steptime show ID`")
    return remarks

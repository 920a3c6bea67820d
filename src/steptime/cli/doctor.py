"""`steptime doctor`: test with a real step which backends work here."""

from __future__ import annotations

import json
import shlex

import click

from steptime.cli.options import json_option
from steptime.cli.printing import table


@click.command("doctor")
@click.argument("names", nargs=-1, metavar="[BACKEND..]")
@click.option("--python", default="", metavar="PATH", help="Test this interpreter instead of the backend's own.")
@click.option("--worker", default="", metavar="CMD", help="Test whether this command follows the worker protocol, as BACKEND.")
@click.option("--prove", is_flag=True, help="Also compare each backend with the numpy reference, in every operator that it has.")
@json_option
def command(names: tuple[str, ...], python: str, worker: str, prove: bool, as_json: bool) -> int:
    """Run a training step on each BACKEND (default: all), each in its own process, and say how to fix what fails."""
    from steptime.checks.doctor import examine
    from steptime.core.backends.base import find
    from steptime.core.backends.base import names as known

    if worker:
        return _conformance(shlex.split(worker), names[0] if names else "reference", as_json)
    rows = []
    for name in names or known():
        find(name)
        finding = examine(name, python, prove)
        rows.append(finding)
        if as_json:
            print(json.dumps(finding), flush=True)
    if not as_json:
        header = ("backend", "works", "version", "threads", "at work", "proven", "what was seen", "what to do")
        keys = ("backend", "works", "version", "threads", "busy_threads", "proven", "seen", "remedy")
        print(table(header, [[_cell(row[key]) for key in keys] for row in rows]))
    return 0 if all(row["works"] for row in rows) else 1


def _conformance(worker: list[str], backend: str, as_json: bool) -> int:
    from steptime.checks.conformance import conformance
    from steptime.core.errors import UsageError

    try:
        findings = list(conformance(worker, backend))
    except OSError as problem:
        raise UsageError(f"--worker {shlex.join(worker)}: {problem.strerror}") from None
    if as_json:
        for rule, wrong in findings:
            print(json.dumps({"rule": rule, "kept": not wrong, "seen": wrong}))
    else:
        print(table(("rule", "kept", "what was seen"), [[rule, "NO" if wrong else "yes", wrong] for rule, wrong in findings]))
    return 1 if any(wrong for _, wrong in findings) else 0


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return "" if value is None else str(value)

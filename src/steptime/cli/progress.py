"""Shows a running sweep on stderr: bars on a terminal, one line per case elsewhere."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, Protocol

from steptime.cli.printing import half_width, speed
from steptime.core.schema import Case, Record, Status, Verdict, case_key
from steptime.store.columns import case_words, row_of
from steptime.sweep.watcher import Watcher, again_words


def outcome_words(record: Record) -> str:
    row = row_of(record)
    if record.status != Status.OK or not record.contention:
        return f"{record.status}: {record.message}"
    figures = f"{speed(row['throughput'])} samples/s ± {half_width(row):.1%}"
    verdict = record.contention.verdict
    return f"{figures}, {verdict}" + (f" ({record.contention.reason})" if verdict in (Verdict.NOISY, Verdict.CONTENDED) else "")


class Display(Watcher, Protocol):
    def __enter__(self) -> Display: ...
    def __exit__(self, *_: object) -> None: ...


@dataclass
class CaseCounter:
    """Numbers the cases of a round, each once: a case that a failed node lost comes again under its number."""

    total: int
    again: bool = False
    """contended cases, which have been counted before"""
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, case: Case) -> int:
        return self.numbers.setdefault(case_key(case), len(self.numbers) + 1)


class Lines:
    """For logs and pipes."""

    def __init__(self, total: int) -> None:
        self._counter = CaseCounter(total)

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def case_begins(self, case: Case) -> None:
        pass

    def event(self, case: Case, event: dict[str, Any]) -> None:
        pass

    def case_ends(self, record: Record) -> None:
        counter = self._counter
        place = f"{'again ' if counter.again else ''}{counter.number(record.case)}/{counter.total}"
        self.say(f"[{place}] {case_words(record.case)}: {outcome_words(record)}")

    def measures_again(self, cases: int) -> None:
        self._counter = CaseCounter(cases, again=True)
        self.say(again_words(cases))

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class Bars:
    """For terminals: a bar for the sweep, a bar for the case with its live speed."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        live = TextColumn("{task.fields[live]}")
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(24), live, TimeElapsedColumn(), console=Console(stderr=True)
        )
        self._sweep = self._bars.add_task(f"0 of {total} cases", total=total, live="")
        self._case = self._bars.add_task("", total=1.0, live="")
        self._counter = CaseCounter(total)

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.update(self._case, visible=False)
        self._bars.stop()

    def case_begins(self, case: Case) -> None:
        self._bars.reset(self._case, description=case_words(case), total=1.0, live="starting")

    def event(self, case: Case, event: dict[str, Any]) -> None:
        if event["event"] == "phase":
            self._bars.update(self._case, live=str(event["name"]))
        elif event["event"] == "progress":
            live = f"{event['mean_speed']:.1f} samples/s +/- {event['uncertainty']:.1f} (jitter = {event['jitter']:.1f})"
            self._bars.update(self._case, completed=float(event["done"]), live=live)

    def case_ends(self, record: Record) -> None:
        self._counter.number(record.case)
        self.say(f"{case_words(record.case)}: {outcome_words(record)}")
        self._count()

    def measures_again(self, cases: int) -> None:
        self._counter = CaseCounter(cases, again=True)
        self.say(again_words(cases))
        self._count()

    def _count(self) -> None:
        done, total = len(self._counter.numbers), self._counter.total
        words = f"{done} of {total} {'contended cases again' if self._counter.again else 'cases'}"
        self._bars.update(self._sweep, completed=done, total=total, description=words)

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False)


def display(total: int) -> Display:
    return Bars(total) if sys.stderr.isatty() else Lines(total)

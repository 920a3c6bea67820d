"""Shows a running sweep on stderr: bars on a terminal, one line per case elsewhere."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from steptime.cli.printing import half_width, speed
from steptime.core.schema import OK, Case, Record, Verdict
from steptime.store.rows import case_words, row_of
from steptime.sweep.watcher import Watcher


def outcome_words(record: Record) -> str:
    row = row_of(record)
    if record.status != OK or not record.contention:
        return f"{record.status}: {record.message}"
    figures = f"{speed(row['throughput'])} samples/s ± {half_width(row):.1%}"
    verdict = record.contention.verdict
    return f"{figures}, {verdict}" + (f" ({record.contention.reason})" if verdict in (Verdict.NOISY, Verdict.CONTENDED) else "")


class Display(Watcher, Protocol):
    def __enter__(self) -> Display: ...
    def __exit__(self, *_: object) -> None: ...


class Lines:
    """For logs and pipes."""

    def __init__(self, total: int) -> None:
        self._total, self._number = total, 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def case_begins(self, case: Case) -> None:
        self._number += 1
        self._total = max(self._total, self._number)

    def event(self, case: Case, event: dict[str, Any]) -> None:
        pass

    def case_ends(self, record: Record) -> None:
        self.say(f"[{self._number}/{self._total}] {case_words(record.case)}: {outcome_words(record)}")

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
        self._total, self._done = total, 0

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
        self._done += 1
        self._total = max(self._total, self._done)
        self._bars.console.print(f"{case_words(record.case)}: {outcome_words(record)}", markup=False, highlight=False)
        self._bars.update(self._sweep, completed=self._done, description=f"{self._done} of {self._total} cases")

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False)


def display(total: int) -> Display:
    return Bars(total) if sys.stderr.isatty() else Lines(total)

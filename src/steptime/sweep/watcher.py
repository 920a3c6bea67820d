"""Who follows a sweep: a terminal, a log, or nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from steptime.core.schema import Case, Record


class Watcher(Protocol):
    def case_begins(self, case: Case) -> None: ...
    def event(self, case: Case, event: dict[str, Any]) -> None: ...
    def case_ends(self, record: Record) -> None: ...
    def measures_again(self, cases: int) -> None:
        """That many contended cases follow, which have a record already."""

    def say(self, line: str) -> None: ...


def again_words(cases: int) -> str:
    return f"measuring {cases} contended case{'' if cases == 1 else 's'} again"


@dataclass(frozen=True)
class MessageWatcher:
    """Passes messages on, and shows nothing of the cases."""

    say_line: Callable[[str], None]

    def case_begins(self, case: Case) -> None: ...
    def event(self, case: Case, event: dict[str, Any]) -> None: ...
    def case_ends(self, record: Record) -> None: ...
    def measures_again(self, cases: int) -> None:
        self.say(again_words(cases))

    def say(self, line: str) -> None:
        self.say_line(line)


SILENT = MessageWatcher(lambda line: None)

"""Every exception that steptime raises on purpose.

SteptimeError                 one line for the user; the class decides the exit code
├── UsageError                bad input: exit 2, and the message names the valid choices
│   ├── UnknownName           a name that is not in a list we know
│   │   └── UnknownRun        an id that no stored run has
│   └── OptionError           an option of a model or a backend; names it
├── GraphError                a model that does not fit together; names the offending node
├── StoreError                records cannot be read or written
├── DataError                 a data set that is not there, not whole or not what it should be
├── SetupError                a framework's environment cannot be made or used
└── CaseFailed                a case that did not yield a figure; becomes a record of its `kind`
    └── Unsupported           this backend, device or precision does not support the case
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steptime.core.schema import Status


class SteptimeError(Exception):
    """Base of all errors shown to the user as one line."""


class UsageError(SteptimeError):
    """Bad input. The message says what would have been valid."""


class UnknownName(UsageError):
    """`name` is not one of `known`; the message lists them and suggests the nearest."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        import difflib

        self.known = sorted(known)
        close = difflib.get_close_matches(str(name), self.known, 1, cutoff=0.7)
        hint = f" (did you mean {close[0]}?)" if close else ""
        super().__init__(f"unknown {what} '{name}'{hint}; known: {', '.join(self.known) or 'none'}")


class UnknownRun(UnknownName):
    """No stored run has this id; the message names some that exist."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__("run", name, known)


class OptionError(UsageError):
    """A model or a backend has no such option, or it cannot have this value; `option` is its name."""

    def __init__(self, option: str, problem: object) -> None:
        super().__init__(str(problem))
        self.option = option


class GraphError(SteptimeError):
    """A model that cannot be built."""


class StoreError(SteptimeError):
    """The records folder cannot be used."""


class DataError(SteptimeError):
    """A data set that cannot be read."""


class SetupError(SteptimeError):
    """An environment could not be made, or is broken."""


class CaseFailed(SteptimeError):
    """A failure that is a result: `kind` is one of schema.FAILURES."""

    def __init__(self, kind: Status, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unsupported(CaseFailed):
    """This framework, device or precision does not support the case."""

    def __init__(self, message: str) -> None:
        from steptime.core.schema import Status  # here: every command imports this file, and few need the schema

        super().__init__(Status.UNSUPPORTED, message)

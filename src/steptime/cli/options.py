"""Options that several verbs share, and how lists and settings are written on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from steptime.core.errors import UsageError
from steptime.plan.lists import split_list
from steptime.store.files import Store

F = TypeVar("F", bound=Callable[..., Any])
N = TypeVar("N", int, float)


def store_option(command: F) -> F:
    text = "Folder of the records.  [default: $STEPTIME_STORE, else ./steptime-results]"
    return click.option("--store", "store_path", metavar="DIR", help=text)(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")(command)


def open_store(path: str | None) -> Store:
    return Store(Path(path or os.environ.get("STEPTIME_STORE") or "steptime-results").absolute())


def words(text: str | None) -> list[str]:
    """'a,b' to ['a', 'b']."""
    return [part.strip() for part in split_list(text or "") if part.strip()]


def integers(name: str, text: str | None) -> list[int]:
    return [_number(part, int, f"--{name} takes whole numbers, such as 32 or 16,32,64") for part in words(text)]


def floats(name: str, text: str | None) -> list[float]:
    return [_number(part, float, f"--{name} takes numbers, such as 0.01") for part in words(text)]


def _number(text: str, kind: type[N], problem: str) -> N:
    try:
        return kind(text.replace("_", ""))
    except ValueError:
        raise UsageError(f"{problem}; got '{text}'") from None


def settings(name: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """('layers=4,8', 'width=512') to {'layers': ['4', '8'], 'width': ['512']}; `KEY=` is an empty text."""
    values: dict[str, list[str]] = {}
    for text in texts:
        key, equals, rest = text.partition("=")
        if not equals or not key:
            raise UsageError(f"--{name} is written KEY=VALUE or KEY=VALUE,VALUE; got '{text}'")
        if key in values:
            raise UsageError(f"--{name} {key} is given twice")
        values[key] = split_list(rest)
    return values

"""Options that several verbs share, and how lists and settings are written on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from steptime.core.errors import UsageError
from steptime.store.files import Store

F = TypeVar("F", bound=Callable[..., Any])


def store_option(command: F) -> F:
    text = "Where records are kept.  [default: $STEPTIME_STORE, else ./steptime-results]"
    return click.option("--store", "store_path", metavar="DIR", help=text)(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")(command)


def open_store(path: str | None) -> Store:
    return Store(Path(path or os.environ.get("STEPTIME_STORE") or "steptime-results").absolute())


def words(text: str | None) -> list[str]:
    """'a,b' to ['a', 'b']."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def integers(name: str, text: str | None) -> list[int]:
    found = []
    for part in words(text):
        try:
            found.append(int(part.replace("_", "")))
        except ValueError:
            raise UsageError(f"--{name} takes whole numbers, such as 32 or 16,32,64; got '{part}'") from None
    return found


def settings(name: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """('layers=4,8', 'width=512') to {'layers': ['4', '8'], 'width': ['512']}."""
    found: dict[str, list[str]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not key or not values:
            raise UsageError(f"--{name} is written KEY=VALUE or KEY=VALUE,VALUE; got '{text}'")
        found[key] = values.split(",")
    return found


def floats(name: str, text: str | None) -> list[float]:
    found = []
    for part in words(text):
        try:
            found.append(float(part))
        except ValueError:
            raise UsageError(f"--{name} takes numbers, such as 0.01; got '{part}'") from None
    return found

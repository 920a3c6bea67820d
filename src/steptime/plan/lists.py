"""Comma lists as the command line writes them. A comma inside a value has a backslash before it."""

from __future__ import annotations

import re
from collections.abc import Iterable

SEPARATOR = re.compile(r"(?<!\\),")


def joined(values: Iterable[str]) -> str:
    return ",".join(value.replace(",", "\\,") for value in values)


def split(text: str) -> list[str]:
    return [part.replace("\\,", ",") for part in SEPARATOR.split(text)]

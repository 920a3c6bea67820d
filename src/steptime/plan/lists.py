"""Comma lists as the command line writes them: a comma inside a value has a backslash before it.

A file of its own, because every verb imports this and fields.py brings numpy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SEPARATOR = re.compile(r"(?<!\\),")


def join_list(values: Iterable[str]) -> str:
    return ",".join(value.replace(",", "\\,") for value in values)


def split_list(text: str) -> list[str]:
    return [part.replace("\\,", ",") for part in SEPARATOR.split(text)]

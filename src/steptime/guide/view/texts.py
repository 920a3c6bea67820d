"""Sentences that both Python and the scripts write, as templates: each is written once, here in Python, and generated for the
scripts (web/facts.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Text:
    """A template with {fields}; {n:,} has thousands separators."""

    many: str
    one: str = ""
    """instead, where the field n is 1"""

    def __call__(self, **fields: Any) -> str:
        return (self.one if self.one and fields.get("n") == 1 else self.many).format(**fields)

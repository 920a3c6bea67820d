"""A TOML file that people write: every error is one line that names file, line and key."""

from __future__ import annotations

from functools import cached_property
from typing import NoReturn

from steptime.core.errors import UsageError
from steptime.plan import locate


class TomlFile:
    def __init__(self, text: str, name: str) -> None:
        """`name` is what errors call the file."""
        self._text, self._name = text, name
        self.content = locate.content_of(text, name)

    def place(self, path: locate.Path) -> str:
        """What an error about this key begins with."""
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        return f"{self._name}:{locate.line_of(self._lines, path)}: {key}: "

    def fail(self, path: locate.Path, problem: object) -> NoReturn:
        raise UsageError(f"{self.place(path)}{problem}") from None

    @cached_property
    def _lines(self) -> dict[locate.Path, int]:
        return locate.lines_of(self._text)

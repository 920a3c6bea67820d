"""A TOML file that people write: every error is one line that names file, line and key.

tomllib does not say on which line a key stands. The scan for lines follows the nesting and checks nothing, because tomllib
accepted the text before.
"""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from typing import Any, NoReturn

from steptime.core.errors import UsageError

KeyPath = tuple[str | int, ...]
"""keys, and positions in arrays: ("override", 1, "set", "batch")"""

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
BARE = re.compile(r"[A-Za-z0-9_-]+")
BASIC = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
LITERAL = re.compile(r"'[^']*'")
LONG = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}', re.DOTALL)
PLAIN = re.compile(r"[^\s,\]}#]+(?:[ ][0-9][^\s,\]}#]*)?")
"""numbers, truth values, dates; a date may have one space before its time"""
NOT_TOML = re.compile(r"(.*?) \(at line (\d+), column (\d+)\)")
"""tomllib's message; its errors have no fields for the place before Python 3.14"""
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def content_of(text: str, name: str) -> dict[str, Any]:
    """`name` is what errors call the file."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        place = NOT_TOML.fullmatch(str(problem))
        where, what = (f"{place[2]}:", f"{place[1]}, column {place[3]}") if place else ("", str(problem))
        raise UsageError(f"{name}:{where} not TOML: {what}") from None
    except RecursionError:
        raise UsageError(f"{name}: not TOML: nested too deeply") from None


def lines_of(text: str) -> dict[KeyPath, int]:
    """Every key and every array element of a document, with its line, counted from 1."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int:
    """The line of the path, or of its nearest ancestor in the text."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._counted = (0, 1)
        self._lengths: dict[KeyPath, int] = {}
        """of the arrays of tables so far"""

    def document(self) -> None:
        table: KeyPath = ()
        self._skip()
        while self._at < len(self._text):
            if self._take("[["):
                table = self._table(array=True)
            elif self._take("["):
                table = self._table(array=False)
            else:
                self._pair(table)
            self._skip()

    def _skip(self) -> None:
        self._match(BLANK)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match.group() if match else None

    def _take(self, sign: str) -> bool:
        there = self._text.startswith(sign, self._at)
        self._at += len(sign) if there else 0
        return there

    def _note(self, path: KeyPath) -> None:
        """Each path is noted where it first appears."""
        at, line = self._counted
        line += self._text.count("\n", at, self._at)
        self._counted = (self._at, line)
        self.lines.setdefault(path, line)

    def _table(self, array: bool) -> KeyPath:
        """The header's path, in which each array of tables is represented by its last element so far."""
        path: KeyPath = ()
        keys = self._keys()
        for position, key in enumerate(keys):
            path = (*path, key)
            self._note(path)
            if array and position == len(keys) - 1:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
                self._note(path)
        self._take("]]" if array else "]")
        return path

    def _keys(self) -> list[str]:
        keys = [self._key()]
        while self._dot():
            keys.append(self._key())
        return keys

    def _dot(self) -> bool:
        self._skip()
        return self._take(".")

    def _key(self) -> str:
        self._skip()
        if basic := self._match(BASIC):
            return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", _unescaped, basic[1:-1])
        if literal := self._match(LITERAL):
            return literal[1:-1]
        bare = self._match(BARE)
        if bare is None:
            raise ValueError(f"no key at {self._at}")
        return bare

    def _pair(self, table: KeyPath) -> None:
        self._skip()
        path = table
        self._skip()
        for key in self._keys():
            path = (*path, key)
            self._note(path)
        self._skip()
        self._take("=")
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip()
        if self._take("["):
            self._array(path)
        elif self._take("{"):
            self._inline(path)
        elif not (self._match(LONG) or self._match(BASIC) or self._match(LITERAL) or self._match(PLAIN)):
            raise ValueError(f"no value at {self._at}")

    def _array(self, path: KeyPath) -> None:
        position = 0
        while not self._ends("]"):
            self._note((*path, position))
            self._value((*path, position))
            position += 1

    def _inline(self, path: KeyPath) -> None:
        while not self._ends("}"):
            self._pair(path)

    def _ends(self, bracket: str) -> bool:
        self._skip()
        self._take(",")
        self._skip()
        return self._take(bracket)


def _unescaped(escape: re.Match[str]) -> str:
    letters = escape.group(1)
    return chr(int(letters[1:], 16)) if letters[0] in "uU" else ESCAPES.get(letters, letters)


class TomlFile:
    def __init__(self, text: str, name: str) -> None:
        """`name` is what errors call the file."""
        self._text, self._name = text, name
        self.content = content_of(text, name)

    def place(self, path: KeyPath) -> str:
        """What an error about this key begins with."""
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        return f"{self._name}:{line_of(self._lines, path)}: {key}: "

    def fail(self, path: KeyPath, problem: object) -> NoReturn:
        raise UsageError(f"{self.place(path)}{problem}") from None

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        return lines_of(self._text)

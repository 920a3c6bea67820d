"""How lists, filters and series are written, in addresses and on the command line alike.

a,b                      two values; a comma inside balanced parentheses does not divide: mlp(layers=4,width=8),lenet
a\\,b                     one value; a backslash takes the next character literally
8..64   8..   ..64       of numbers and dates: a range, both ends included
NAME: model=a,b; precision=fp16      a named series with filters of its own
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from steptime.core.errors import UsageError
from steptime.guide.view.dimensions import Dimension, dimension

Filters = tuple[tuple[str, tuple[str, ...]], ...]
"""dimension and the values it may have, sorted by dimension; values sorted, none twice"""

RANGE = re.compile(r"(.*?)\.\.(.*)")
NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
LONGEST_VALUE = 500
MOST_VALUES = 500


def split(text: str, separator: str = ",") -> list[str]:
    """The parts, still escaped, so that they can be split again by another separator."""
    parts, current, depth, i = [], "", 0, 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            current += text[i : i + 2]
            i += 2
            continue
        depth = depth + 1 if c == "(" else max(depth - 1, 0) if c == ")" else depth
        if c == separator and not depth:
            parts.append(current)
            current = ""
        else:
            current += c
        i += 1
    return [*parts, current]


def plain(text: str) -> str:
    """Without its escapes."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.S)


def escaped(value: str) -> str:
    """So that `split` by any of , ; : = and then `plain` give it back. Blanks at the ends too: readers trim."""
    special = set("\\,;:=") if _balanced(value) else set("\\,;:=()")
    inner = range(len(value) - len(value.lstrip()), len(value.rstrip()))
    out, depth = "", 0
    for i, c in enumerate(value):
        depth += (c == "(") - (c == ")") if "(" not in special else 0
        literal = c in special and (not depth or c == "\\")
        out += "\\" + c if literal or i not in inner else c
    return out


def _balanced(value: str) -> bool:
    depth = 0
    for c in value:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def trimmed(text: str) -> str:
    """Without surrounding blanks, except escaped ones."""
    text = text.lstrip()
    kept = text.rstrip()
    slashes = len(kept) - len(kept.rstrip("\\"))
    return kept + text[len(kept) : len(kept) + slashes % 2]


def values_of(text: str) -> tuple[str, ...]:
    return tuple(plain(trimmed(part)) for part in split(text))


def value_text(values: Iterable[str]) -> str:
    return ",".join(escaped(v) for v in values)


def checked(of: Dimension, values: Iterable[str]) -> tuple[str, ...]:
    """Values as a filter may have them, or one line that says what would be valid."""
    distinct = tuple(dict.fromkeys(values))
    if len(distinct) > MOST_VALUES:
        raise UsageError(f"{of.name}: at most {MOST_VALUES} values; got {len(distinct)}")
    for value in distinct:
        if len(value) > LONGEST_VALUE or "\x00" in value:
            raise UsageError(f"{of.name}: a value is longer than {LONGEST_VALUE} characters, or holds a null character")
        if of.kind != "text":
            for end in ends(of, value) or (value,):
                _check_end(of, end, value)
    return distinct


def _check_end(of: Dimension, end: str, value: str) -> None:
    shape, example = (NUMBER, "32 or 8..64") if of.kind == "number" else (DATE, "2026-11-16 or 2026-01..2026-06")
    if end and not shape.fullmatch(end):
        raise UsageError(f"{of.name} is a {of.kind}, such as {example}; got '{value}'")


def ends(of: Dimension, value: str) -> tuple[str, str] | None:
    """The ends of a range, an empty one being open; None for a single value. Text has no ranges."""
    match = RANGE.fullmatch(value) if of.kind != "text" else None
    return (match.group(1), match.group(2)) if match else None


def filter_of(text: str) -> tuple[str, tuple[str, ...]]:
    """'model=a,b' to ('model', ('a', 'b'))."""
    key, equals, rest = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"a filter is written DIMENSION=VALUE or DIMENSION=VALUE,VALUE; got '{text}'")
    of = dimension(key.strip())
    return of.name, checked(of, values_of(rest))


def canonical(pairs: Iterable[tuple[str, Iterable[str]]]) -> Filters:
    """Sorted; a dimension that is named twice has the values of both."""
    merged: dict[str, set[str]] = {}
    for key, values in pairs:
        merged.setdefault(key, set()).update(checked(dimension(key), values))
    return tuple((key, tuple(sorted(merged[key]))) for key in sorted(merged))


def filters_text(filters: Filters) -> str:
    return "; ".join(f"{key}={value_text(values)}" for key, values in filters)


def filters_of(text: str) -> Filters:
    """'model=a,b; precision=fp16'."""
    return canonical(filter_of(trimmed(part)) for part in split(text, ";") if part.strip())

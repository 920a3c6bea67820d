"""How lists, filters and series are written, in addresses and on the command line alike.

a,b                      two values; a comma inside balanced parentheses does not divide: mlp(layers=4,width=8),lenet
a\\,b                     one value; a backslash takes the next character literally
a,k\\=v                   two values; after a comma an equals sign needs the backslash, so that no filter passes for a value
8..64   8..   ..64       of numbers and dates: a range, both ends included
NAME: model=a,b; precision=fp16      a named series with filters of its own
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from steptime.core.errors import UsageError
from steptime.guide.view.dimensions import Dimension, dimension
from steptime.guide.view.texts import Text

Filters = tuple[tuple[str, tuple[str, ...]], ...]
"""dimension and the values it may have, sorted by dimension; values sorted, none twice"""

RANGE = re.compile(r"(.*?)\.\.(.*)")
NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
LONGEST_VALUE = 500
MOST_VALUES = 500

TEXTS = {
    "no_filter": Text("a filter is written DIMENSION=VALUE or DIMENSION=VALUE,VALUE; got '{text}'"),
    "two_filters": Text(
        "'{part}' is not a value of {key}: two filters are written '{key}={before}{divider}{part}'; "
        "after a comma an equals sign that belongs to a value is written '\\='"
    ),
    "no_series": Text("a series is written NAME: DIMENSION=VALUE,..; DIMENSION=..; got '{text}'"),
}


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


def filter_values(key: str, text: str, divider: str = "; ") -> tuple[str, ...]:
    """The values of a filter; what looks like another filter after a comma is an error that shows how two are written."""
    first, *others = split(text)
    before = first
    for part in others:
        if len(split(part, "=")) > 1:
            raise UsageError(TEXTS["two_filters"](key=key, before=before, divider=divider, part=trimmed(part)))
        before += f",{part}"
    return values_of(text)


def pairs_of(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """'model=a,b; precision=fp16' to [('model', ('a', 'b')), ('precision', ('fp16',))], whatever the names are."""
    return [_pair(trimmed(part)) for part in split(text, ";") if part.strip()]


def _pair(text: str) -> tuple[str, tuple[str, ...]]:
    key, equals, rest = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageError(TEXTS["no_filter"](text=text))
    return key, filter_values(key, rest)


def canonical(pairs: Iterable[tuple[str, Iterable[str]]]) -> Filters:
    """Sorted; a dimension that is named twice has the values of both."""
    merged: dict[str, set[str]] = {}
    for key, values in pairs:
        merged.setdefault(key, set()).update(checked(dimension(key), values))
    return tuple((key, tuple(sorted(merged[key]))) for key in sorted(merged))


def filters_text(filters: Filters) -> str:
    return "; ".join(f"{key}={value_text(values)}" for key, values in filters)


def filters_of(*texts: str) -> Filters:
    """Each as 'model=a,b; precision=fp16'; all must hold."""
    return canonical(pair for text in texts for pair in pairs_of(text))

"""Where a key stands in a TOML text."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.errors import UsageError
from steptime.plan.toml_file import content_of, line_of, lines_of

TEXT = '''# a plan
description = """
[not.a.table]
x = 1"""
repeats = 3

[axes]   # [[axes]] is not meant
batch = [
  1,
  # two
  2,
]
model_options.layers = [4, 8]
when = 1979-05-27 07:32:00

[[override]]
when = "a = 1"
set = { batch = 3,  precision = 'b#f16' }

[[override]]
set.labels."a.b" = "x"
'a b' = [{ c = 1 }, { c = [[1], [2]] }]

[[override.more]]
z = 1
[[override.more]]
z = 2
'''


def test_tables_arrays_dotted_keys_and_inline_tables_are_followed():
    lines = lines_of(TEXT)
    assert tomllib.loads(TEXT)
    wanted = {
        ("repeats",): 5,
        ("axes",): 7,
        ("axes", "batch"): 8,
        ("axes", "batch", 1): 11,
        ("axes", "model_options", "layers", 1): 13,
        ("axes", "when"): 14,
        ("override", 0, "when"): 17,
        ("override", 0, "set", "precision"): 18,
        ("override", 1): 20,
        ("override", 1, "set", "labels", "a.b"): 21,
        ("override", 1, "a b", 1, "c", 1, 0): 22,
        ("override", 1, "more", 1, "z"): 27,
    }
    assert {path: lines.get(path) for path in wanted} == wanted


def test_a_path_that_is_not_written_has_the_line_of_its_nearest_ancestor():
    lines = lines_of(TEXT)
    assert line_of(lines, ("axes", "batch", 7)) == 8
    assert line_of(lines, ("axes", "model_options", "width")) == 13
    assert line_of(lines, ("nothing",)) == 1


def paths(value: Any, path: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} - {()} | {found for key, item in inside for found in paths(item, (*path, key))}


keys = st.one_of(st.sampled_from(["a", "b", "axes", "x-1", "7"]), st.text(max_size=4))
scalars = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["true", "1e-3", "inf", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5", "07:32:00", "0xff", "'#'", '""']),
    st.sampled_from(["'''\n[a]\nb = 1'''", '"""a\\"""b = 2"""', '"""\n""\n\\\\"""', "''''a''''", '"]"', "'}'", '"\\\\"']),
)


@st.composite
def values(draw: Any, depth: int) -> tuple[list[tuple[tuple[Any, ...], str | None]], int]:
    """Pieces of text; a piece with a path marks where that path begins."""
    kind = draw(st.sampled_from(["scalar", "array", "inline"])) if depth else "scalar"
    if kind == "scalar":
        return [((), draw(scalars))]
    if kind == "array":
        pieces: list[Any] = [((), "[")]
        for position in range(draw(st.integers(0, 3))):
            pieces += [((), draw(st.sampled_from(["", "\n", " # ]\n"]))), ((position,), None)]
            pieces += [((position, *path), text) for path, text in draw(values(depth - 1))]
            pieces += [((), draw(st.sampled_from([",", " ,\n", ",#,\n"])))]
        return [*pieces, ((), "]")]
    pieces = [((), "{ ")]
    for number, pair in enumerate(draw(pairs(depth - 1))):
        pieces += [((), ", " if number else ""), *pair]
    return [*pieces, ((), " }")]


@st.composite
def pairs(draw: Any, depth: int) -> list[Any]:
    found = []
    for key in draw(st.lists(keys, max_size=3, unique=True)):
        dotted = (key, *draw(st.lists(keys, max_size=1)))
        pieces: list[Any] = []
        for number, part in enumerate(dotted):
            pieces += [((), "." if number else ""), (dotted[: number + 1], None), ((), json.dumps(part))]
        pieces += [((), draw(st.sampled_from(["=", " = "])))]
        pieces += [((*dotted, *path) if path or text is None else (), text) for path, text in draw(values(depth))]
        found.append(pieces)
    return found


@st.composite
def documents(draw: Any) -> tuple[str, dict[tuple[Any, ...], int]]:
    text, lines = "", {}

    def put(pieces: Any, table: tuple[Any, ...]) -> None:
        nonlocal text
        for path, piece in pieces:
            if piece is None:
                lines.setdefault((*table, *path), text.count("\n") + 1)
            else:
                text += piece
        text += draw(st.sampled_from(["\n", " # x = [\n", "\n\n"]))

    for pair in draw(pairs(2)):
        put(pair, ())
    for number, header in enumerate(draw(st.lists(st.sampled_from(["table", "array"]), max_size=4))):
        name = f"t{number}" if header == "table" else "list"
        count = sum(1 for path in lines if path[:1] == ("list",) and len(path) == 2)
        path = (name,) if header == "table" else (name, count)
        lines.setdefault((name,), text.count("\n") + 1)
        lines.setdefault(path, text.count("\n") + 1)
        text += f"[{name}]\n" if header == "table" else f"[[ {name} ]]\n"
        for pair in draw(pairs(2)):
            put(pair, path)
    return text, lines


@given(documents())
def test_every_key_of_any_document_is_found_on_its_line(document):
    text, expected = document
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # a key given twice: not a document
        return
    found = lines_of(text)
    assert set(found) == paths(content)
    assert found == {path: expected[path] for path in found}


@pytest.mark.parametrize(
    ("text", "message"),
    [("a = 1\nb = =", "p.toml:2: not TOML: "), ("a = " + "[" * 20_000, "p.toml: not TOML: nested too deeply")],
)
def test_what_is_no_toml_is_one_clear_line_with_its_place(text, message):
    with pytest.raises(UsageError, match="^" + re.escape(message)):
        content_of(text, "p.toml")

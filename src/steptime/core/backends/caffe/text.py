"""Protobuf's text format, in which Caffe reads networks and solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Word(str):
    """The name of an enum's value: written without quotes."""


def message(fields: Mapping[str, Any], indent: str = "") -> str:
    """One field per line; a list repeats its field, a mapping is a message inside."""
    return "".join(_field(name, value, indent) for name, value in fields.items())


def _field(name: str, value: Any, indent: str) -> str:
    if isinstance(value, (list, tuple)):
        return "".join(_field(name, each, indent) for each in value)
    if isinstance(value, Mapping):
        return f"{indent}{name} {{\n{message(value, indent + '  ')}{indent}}}\n"
    return f"{indent}{name}: {_scalar(value)}\n"


def _scalar(value: Any) -> str:
    if isinstance(value, Word):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)

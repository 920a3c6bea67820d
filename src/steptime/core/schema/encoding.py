"""Schema types to JSON and back, with the standard library alone; and how moments are written in them."""

from __future__ import annotations

import dataclasses
import json
import time
import typing
from datetime import datetime, timezone
from typing import Any, Optional, TypeVar, Union

from steptime.core.schema.enums import Word

T = TypeVar("T")


def timestamp(seconds: Optional[float] = None) -> str:
    """Of a moment in seconds since the epoch, else of now: UTC, ISO 8601."""
    moment = time.time() if seconds is None else seconds
    return datetime.fromtimestamp(moment, timezone.utc).isoformat(timespec="milliseconds")


def to_json(value: Any) -> str:
    """Compact JSON of any schema type. NaN and infinity are refused: they are not JSON and not figures."""
    return json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """As dataclasses.asdict, without copying 100,000 steps one by one."""
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list) and value and dataclasses.is_dataclass(value[0]):
        return [_plain(item) for item in value]
    return value


def from_json(kind: type[T], text: str) -> T:
    """The inverse of to_json, for the worker. Unknown keys are ignored, so an older worker reads a newer job."""
    return typing.cast(T, _build(kind, json.loads(text)))


def _build(kind: Any, value: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin is Union:
        inner = [a for a in typing.get_args(kind) if a is not type(None)]
        return None if value is None else (_build(inner[0], value) if len(inner) == 1 else value)
    if origin is list:
        (item,) = typing.get_args(kind)
        return [_build(item, v) for v in value]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        known = {f.name for f in dataclasses.fields(kind)}
        return kind(**{k: _build(hints[k], v) for k, v in value.items() if k in known})
    if isinstance(kind, type) and issubclass(kind, Word):
        return kind(value)
    return value

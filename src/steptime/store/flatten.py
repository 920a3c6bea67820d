"""Record lines to columns, by the hundred thousand. What comes out is what `row_of` says, line by line; a test holds it to that.

Decoding a dataclass costs ten times what a struct does, and most of a record (machine, software, case) is the same in
many lines. So the types are mirrored as structs, and those parts are decoded once for each different text.
"""

from __future__ import annotations

import copy
import dataclasses
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import msgspec
import numpy as np

from steptime.core.schema import FAILURES, SCHEMA_VERSION, Case, Machine, Record, Software, Status
from steptime.core.schema.enums import Word
from steptime.store.columns import CONFIGURATION, FIGURES, RUN_TEXTS, Row, speed_and_time

RAW = ("case", "software", "machine")
NULL = b"null"
PENDING = 2000
"""records of single files that are turned into columns at once"""


def _mirror(kind: type, raw: Sequence[str] = ()) -> Any:
    """The dataclass as a struct, which the decoder makes several times faster; named fields stay undecoded."""
    hints = typing.get_type_hints(kind)
    fields: list[Any] = []
    for f in dataclasses.fields(kind):
        of = msgspec.Raw if f.name in raw else _mirrored(hints[f.name])
        if f.default_factory is not dataclasses.MISSING:
            fields.append((f.name, of, msgspec.field(default_factory=f.default_factory)))
        elif f.default is not dataclasses.MISSING:
            fields.append((f.name, of, msgspec.Raw(NULL) if f.name in raw else f.default))
        else:
            fields.append((f.name, of))
    return msgspec.defstruct(kind.__name__, fields, gc=False)


def _mirrored(of: Any) -> Any:
    if dataclasses.is_dataclass(of):
        return _mirror(typing.cast(type, of))
    if typing.get_origin(of) is Union:
        return Union[tuple(_mirrored(a) for a in typing.get_args(of))]
    if isinstance(of, type) and issubclass(of, Word):
        return str  # a column holds the text; looking its member up costs more than decoding it
    return of


class Flattener:
    """Takes records, file by file in order; of an id that comes twice it keeps the first."""

    def __init__(self) -> None:
        self.dimensions: list[Row] = []
        self.repeated: set[str] = set()
        """files with an id that had come before"""
        self._line = msgspec.json.Decoder(_mirror(Record, RAW))
        self._case = msgspec.json.Decoder(Case)
        self._software = msgspec.json.Decoder(Software)
        self._machine = msgspec.json.Decoder(Machine)
        self._known: dict[tuple[object, ...], int] = {}
        self._ids: set[str] = set()
        self._blocks: list[Block] = []
        self._pending = _Taken([], [], [], [])

    def __len__(self) -> int:
        """How many rows; of those that wait, an id that comes twice counts twice."""
        return len(self._ids) + len(self._pending.records)

    def add(self, content: bytes, file: str) -> str:
        """Takes the one record of a file; what is wrong with it, or an empty string."""
        outcome = self._read(content)
        if isinstance(outcome, str):
            return outcome
        record, code = outcome
        record.steps = record.profile = record.case = record.software = record.machine = None  # so as not to hold the files
        self._pending.add(record, code, file, 0)
        if len(self._pending.records) >= PENDING:
            self._convert_pending()
        return ""

    def add_lines(self, content: bytes, file: str, offset: int, damaged_too: bool = False) -> list[str]:
        """Takes whole lines, which begin at that byte of the file. What is wrong with any of them; then none is taken,
        unless the good ones among damaged ones are asked for too."""
        taken = self._read_lines(content, file, offset)
        reasons: list[str] = []
        if taken is None:
            taken = _Taken([], [], [], [])
            for line in content.splitlines(keepends=True):
                outcome = self._read(line)
                if isinstance(outcome, str):
                    reasons.append(outcome)
                else:
                    taken.add(*outcome, file, offset)
                offset += len(line)
        if damaged_too or not reasons:
            self._convert_pending()
            self._pending = taken
            self._convert_pending()
        return reasons

    def _read_lines(self, content: bytes, file: str, offset: int) -> _Taken | None:
        """All of them at once, which takes half as long; None where something is wrong or looks odd."""
        if b"\r" in content:
            return None
        content = content if content.endswith(b"\n") else content + b"\n"
        ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n"))
        try:
            records = self._line.decode_lines(content)
            if len(records) != len(ends) or not all(_sound(r) for r in records):
                return None
            codes = [self._code(record) for record in records]
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        byte_offsets = np.concatenate(([0], ends[:-1] + 1)) + offset
        return _Taken(records, codes, [file] * len(records), byte_offsets.tolist())

    def _read(self, content: bytes) -> tuple[Any, int] | str:
        """The record and its configuration's number, or what is wrong with it."""
        try:
            record = self._line.decode(content)
            code = self._code(record)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            return f"not a record: {problem}"
        return (record, code) if _sound(record) else _reason(record)

    def _code(self, record: Any) -> int:
        """Records of one configuration mostly have the same bytes in it, and are then known without decoding them."""
        key = (bytes(record.case), bytes(record.software), bytes(record.machine), *OTHERS_OF_CONFIGURATION(record))
        code = self._known.get(key)
        if code is None:
            code = self._known[key] = len(self.dimensions)
            self.dimensions.append(self._configuration(record))
        return code

    def _configuration(self, record: Any) -> Row:
        whole = copy.copy(record)
        whole.case = self._case.decode(record.case)
        whole.software = None if bytes(record.software) == NULL else self._software.decode(record.software)
        whole.machine = None if bytes(record.machine) == NULL else self._machine.decode(record.machine)
        return {column.name: column.of(whole) for column in CONFIGURATION}

    def _convert_pending(self) -> None:
        """What was taken becomes columns."""
        taken, self._pending = self._once(self._pending), _Taken([], [], [], [])
        if not taken.records:
            return
        batches = [row["effective_batch"] for row in self.dimensions]
        for record, code in zip(taken.records, taken.codes):
            printed = record.printed
            if printed is not None and (printed.mean_speed is None or printed.mean_seconds is None):
                printed.mean_speed, printed.mean_seconds = speed_and_time(printed.mean_speed, printed.mean_seconds, batches[code])
        block = _texts(taken.records) | _figures(taken.records)
        block |= {
            "code": np.array(taken.codes, dtype=np.int64),
            "file": np.array(taken.files, dtype=object),
            "byte_offset": np.array(taken.byte_offsets, dtype=np.int64),
        }
        self._blocks.append(block)

    def _once(self, taken: _Taken) -> _Taken:
        ids = {r.id for r in taken.records}
        if len(ids) == len(taken.records) and self._ids.isdisjoint(ids):
            self._ids |= ids
            return taken
        kept = _Taken([], [], [], [])
        for record, code, file, byte_offset in zip(taken.records, taken.codes, taken.files, taken.byte_offsets):
            if record.id in self._ids:
                self.repeated.add(file)
                continue
            self._ids.add(record.id)
            kept.add(record, code, file, byte_offset)
        return kept

    def arrays(self) -> Block:
        """All rows for the database; a figure that is missing is NaN, which it turns into NULL."""
        self._convert_pending()
        if not self._blocks:
            objects = {name: np.array([], dtype=object) for name in (*(c.name for c in RUN_TEXTS), "file")}
            return objects | {
                name: np.array([], dtype=np.float64) for name in (*(c.name for c in FIGURES), "code", "byte_offset")
            }
        return {name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]}


Block = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class _Taken:
    """Records that were read, each with its configuration's number, its file and its byte offset there."""

    records: list[Any]
    codes: list[int]
    files: list[str]
    byte_offsets: list[int]

    def add(self, record: Any, code: int, file: str, byte_offset: int) -> None:
        self.records.append(record)
        self.codes.append(code)
        self.files.append(file)
        self.byte_offsets.append(byte_offset)


def _sound(record: Any) -> bool:
    if record.schema > SCHEMA_VERSION:
        return False
    return record.status in _FAILURES if record.status != Status.OK else (record.printed or record.summary) is not None


def _reason(record: Any) -> str:
    if record.schema > SCHEMA_VERSION:
        return f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})"
    if record.status != Status.OK:
        return f"unknown status '{record.status}'"
    return "not a record: it is ok, and has no figures"


_FAILURES = frozenset(FAILURES)


def _texts(records: Sequence[Any]) -> Block:
    columns = zip(*map(TEXTS_OF, records))
    return {column.name: np.array(values, dtype=object) for column, values in zip(RUN_TEXTS, columns)}


def _figures(records: Sequence[Any]) -> Block:
    """NaN for what is missing."""
    good = np.fromiter((r.status == Status.OK for r in records), bool, len(records))
    printed = np.fromiter((r.printed is not None for r in records), bool, len(records))
    figures = {column.name: _numbers(values) for column, values in zip(FIGURES, zip(*map(FIGURES_OF, records)))}
    if not good.all() or printed.any():
        for column in FIGURES:
            if column.measured:
                figures[column.name][~good | printed] = np.nan
    if printed.any():
        for column, values in zip(PRINTED, zip(*map(PRINTED_OF, records))):
            figures[column.name] = np.where(good & printed, _numbers(values), figures[column.name])
    for column in FIGURES:
        if column.scale != 1.0:
            figures[column.name] *= column.scale
    return figures


def _numbers(values: tuple[float | None, ...]) -> np.ndarray[Any, Any]:
    if values.count(None) == len(values):
        return np.full(len(values), np.nan)
    known = [np.nan if v is None else v for v in values] if None in values else values
    return np.fromiter(known, np.float64, len(values))


def _reader(fields: Iterable[tuple[str, str | None]]) -> Callable[[Any], tuple[Any, ...]]:
    """From a record to a tuple of fields at paths, each with what stands for it where the record lacks the part. Compiled, as
    dataclasses are, since this runs for every record: calling a getter for each field takes twice as long."""
    parts = [
        f"{absent!r} if r.{path.partition('.')[0]} is None else {_expression(path)}" if "." in path else f"r.{path}"
        for path, absent in fields
    ]
    reader: Callable[[Any], tuple[Any, ...]] = eval(f"lambda r: ({', '.join(parts)},)")
    return reader


def _expression(path: str) -> str:
    """A dictionary as a tuple, so that it can be part of a key."""
    return f"tuple(r.{path}.items())" if typing.get_origin(_type_at(path)) is dict else f"r.{path}"


def _type_at(path: str) -> Any:
    kind: Any = Record
    for name in path.split("."):
        hint = typing.get_type_hints(kind)[name]
        kind = next((part for part in typing.get_args(hint) if dataclasses.is_dataclass(part)), hint)
    return kind


PRINTED = tuple(column for column in FIGURES if column.printed)
TEXTS_OF = _reader((str(column.read), column.absent) for column in RUN_TEXTS)
FIGURES_OF = _reader((str(column.read), None) for column in FIGURES)
PRINTED_OF = _reader((f"printed.{column.printed}", None) for column in PRINTED)
OTHERS_OF_CONFIGURATION = _reader(dict.fromkeys((path, None) for column in CONFIGURATION for path in column.depends))
"""what a configuration depends on beside case, software and machine"""

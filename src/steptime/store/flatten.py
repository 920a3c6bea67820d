"""Record lines to columns, by the hundred thousand. What comes out is what `row_of` says, line by line; a test holds it to that.

Decoding a dataclass costs ten times what a struct does, and most of a record (machine, software, case) is the same in
many lines. So the types are mirrored as structs, and those parts are decoded once for each different text.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

import msgspec
import numpy as np

from steptime.core.schema import FAILURES, OK, SCHEMA_VERSION, Allocation, Case, Machine, Printed, Record, Software, Source
from steptime.store.rows import Row, row_of

DIMENSIONS = (
    "phase", "model", "framework", "framework_version", "backend", "software", "runtime", "precision", "data", "data_store",
    "server", "device", "device_type", "devices_per_node", "nodes", "interconnect", "replicas", "replica_batch",
    "effective_batch", "threads", "optimizer", "origin",
)  # fmt: skip
"""columns that say what was run; with the labels they make a configuration"""
TEXTS = ("id", "status", "verdict", "started", "sweep", "message", "job", "partition", "device_asked")
FIGURES = (
    "batch_time_ms", "throughput", "uncertainty", "jitter", "ci_low", "ci_high", "p50_ms", "p90_ms", "p95_ms", "p99_ms",
    "limit_share", "peak_bytes", "queue_seconds", "staging_seconds",
)  # fmt: skip

ROW_TEXTS = tuple(name for name in TEXTS if name != "device_asked")
"""those of the run itself; what device was asked for is the configuration's"""

RAW = ("case", "software", "machine")
NULL = b"null"
NAN = float("nan")
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
            self._settle()
        return ""

    def add_lines(self, content: bytes, file: str, offset: int, damaged_too: bool = False) -> list[str]:
        """Takes whole lines, which begin at that byte of the file. What is wrong with any of them; then none is taken,
        unless the good ones among damaged ones are asked for too."""
        found = self._read_lines(content, file, offset)
        reasons: list[str] = []
        if found is None:
            found = _Taken([], [], [], [])
            for line in content.splitlines(keepends=True):
                outcome = self._read(line)
                if isinstance(outcome, str):
                    reasons.append(outcome)
                else:
                    found.add(*outcome, file, offset)
                offset += len(line)
        if damaged_too or not reasons:
            self._settle()
            self._pending = found
            self._settle()
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
        places = np.concatenate(([0], ends[:-1] + 1)) + offset
        return _Taken(records, codes, [file] * len(records), places.tolist())

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
        source = record.source
        places = (source.server, source.device, source.interconnect, source.runtime) if source else None
        ran_on = record.allocation.ran_on if record.allocation else ""
        batch = record.printed.effective_batch if record.printed and record.status == OK else None
        key = (bytes(record.case), bytes(record.software), bytes(record.machine), record.origin, places, ran_on, batch)
        code = self._known.get(key)
        if code is None:
            row = self._dimensions(record, places, ran_on, batch)
            code = self._known[key] = len(self.dimensions)
            self.dimensions.append(row)
        return code

    def _dimensions(self, record: Any, places: tuple[str, str, str, str] | None, ran_on: str, batch: int | None) -> Row:
        whole = Record(
            id="",
            status=OK if batch else FAILURES[0],
            printed=Printed(effective_batch=batch) if batch else None,
            allocation=Allocation("", "", ran_on=ran_on) if ran_on else None,
            case=self._case.decode(record.case),
            started="",
            origin=record.origin,
            software=None if bytes(record.software) == NULL else self._software.decode(record.software),
            machine=None if bytes(record.machine) == NULL else self._machine.decode(record.machine),
            source=Source("", "", 0, "", *places) if places else None,
        )
        row = row_of(whole)
        return {**{name: row[name] for name in DIMENSIONS}, "labels": row["labels"], "device_asked": row["device_asked"]}

    def _settle(self) -> None:
        """What was taken becomes columns."""
        taken, self._pending = self._once(self._pending), _Taken([], [], [], [])
        if not taken.records:
            return
        records = taken.records
        given = [r.allocation for r in records]
        texts: dict[str, list[str | None]] = {
            "id": [r.id for r in records],
            "status": [r.status for r in records],
            "verdict": [r.contention.verdict if r.contention else "" for r in records],
            "started": [r.started for r in records],
            "sweep": [r.sweep for r in records],
            "message": [r.message for r in records],
            "job": [g.job if g else None for g in given],
            "partition": [g.partition if g else None for g in given],
        }
        batches = [row["effective_batch"] for row in self.dimensions]
        figures = np.array([_figures(r, batches[code]) for r, code in zip(records, taken.codes)], dtype=np.float64)
        block = {name: np.array(values, dtype=object) for name, values in texts.items()}
        block |= {name: figures[:, column] for column, name in enumerate(FIGURES)}
        block |= {
            "code": np.array(taken.codes, dtype=np.int64),
            "file": np.array(taken.files, dtype=object),
            "place": np.array(taken.places, dtype=np.int64),
        }
        self._blocks.append(block)

    def _once(self, taken: _Taken) -> _Taken:
        ids = {r.id for r in taken.records}
        if len(ids) == len(taken.records) and self._ids.isdisjoint(ids):
            self._ids |= ids
            return taken
        kept = _Taken([], [], [], [])
        for record, code, file, place in zip(taken.records, taken.codes, taken.files, taken.places):
            if record.id in self._ids:
                self.repeated.add(file)
                continue
            self._ids.add(record.id)
            kept.add(record, code, file, place)
        return kept

    def arrays(self) -> Block:
        """All rows for the database; a figure that is missing is NaN, which it turns into NULL."""
        self._settle()
        if not self._blocks:
            objects = {name: np.array([], dtype=object) for name in (*ROW_TEXTS, "file")}
            return objects | {name: np.array([], dtype=np.float64) for name in (*FIGURES, "code", "place")}
        return {name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]}


Block = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class _Taken:
    """Records that were read, each with its configuration's number, its file and its place in it."""

    records: list[Any]
    codes: list[int]
    files: list[str]
    places: list[int]

    def add(self, record: Any, code: int, file: str, place: int) -> None:
        self.records.append(record)
        self.codes.append(code)
        self.files.append(file)
        self.places.append(place)


def _sound(record: Any) -> bool:
    if record.schema > SCHEMA_VERSION:
        return False
    return record.status in _FAILURES if record.status != OK else (record.printed or record.summary) is not None


def _reason(record: Any) -> str:
    if record.schema > SCHEMA_VERSION:
        return f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})"
    if record.status != OK:
        return f"unknown status '{record.status}'"
    return "not a record: it is ok, and has no figures"


_FAILURES = frozenset(FAILURES)


def _figures(record: Any, batch: int | None) -> tuple[float, ...]:
    """In the order of FIGURES, NaN for what is missing; the batch is the configuration's effective one."""
    queued = _or_nan(record.allocation.queue_seconds) if record.allocation else NAN
    staged = record.staging.seconds if record.staging else NAN
    if record.status != OK:
        return (*_NO_FIGURES, queued, staged)
    p = record.printed
    if p is None:
        s = record.summary
        share = _or_nan(record.cost.limit_share) if record.cost else NAN
        peak = record.resources.peak_bytes if record.resources else NAN
        times = (s.p50_seconds * 1e3, s.p90_seconds * 1e3, s.p95_seconds * 1e3, s.p99_seconds * 1e3)
        return (
            *(s.mean_seconds * 1e3, s.mean_speed, s.uncertainty, s.jitter, s.ci_low, s.ci_high),
            *(*times, share, peak, queued, staged),
        )
    seconds, speed = p.mean_seconds, p.mean_speed
    if batch and seconds is None and speed:
        seconds = batch / speed
    if batch and speed is None and seconds:
        speed = batch / seconds
    return (
        *(_milliseconds(seconds), _or_nan(speed), _or_nan(p.uncertainty), _or_nan(p.jitter), NAN, NAN),
        *(_milliseconds(p.p50_seconds), _milliseconds(p.p90_seconds), _milliseconds(p.p95_seconds), _milliseconds(p.p99_seconds)),
        *(NAN, _or_nan(p.peak_bytes), queued, staged),
    )


_NO_FIGURES = (NAN,) * (len(FIGURES) - 2)


def _or_nan(value: float | None) -> float:
    return NAN if value is None else value


def _milliseconds(seconds: float | None) -> float:
    return NAN if seconds is None else seconds * 1e3

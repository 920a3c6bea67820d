"""Record lines to columns, by the hundred thousand. What comes out is what `row_of` says, line by line; a test holds it to that.

Decoding a dataclass costs ten times what a struct does, and most of a record (machine, software, case) is the same in
many lines. So the types are mirrored as structs, and those parts are decoded once for each different text.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import msgspec
import numpy as np

from steptime.schema import FAILURES, OK, SCHEMA_VERSION, Allocation, Case, Machine, Printed, Record, Software, Source, Steps
from steptime.store.index import Row, row_of

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

RAW = ("case", "software", "machine", "steps")
NULL = b"null"


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


@dataclass
class Columns:
    """Lines so far. `codes[i]` is the place in `dimensions` of line i's configuration."""

    codes: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    texts: dict[str, list[str | None]] = field(default_factory=lambda: {name: [] for name in TEXTS})
    figures: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    dimensions: list[Row] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.codes)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """For the database; a figure that is missing is NaN, which it turns into NULL."""
        found: dict[str, np.ndarray[Any, Any]] = {"code": np.asarray(self.codes, dtype=np.int64)}
        found["file"] = np.asarray(self.files, dtype=object)
        found["place"] = np.asarray(self.offsets, dtype=np.int64)
        for name, texts in self.texts.items():
            found[name] = np.asarray(texts, dtype=object)
        for name, values in self.figures.items():
            found[name] = np.array(values, dtype=np.float64)  # None becomes NaN
        return found


class Flattener:
    def __init__(self) -> None:
        self.columns = Columns()
        self._line = msgspec.json.Decoder(_mirror(Record, RAW))
        self._steps = msgspec.json.Decoder(_mirror(Steps))
        self._case = msgspec.json.Decoder(Case)
        self._software = msgspec.json.Decoder(Software)
        self._machine = msgspec.json.Decoder(Machine)
        self._known: dict[tuple[object, ...], int] = {}

    def add(self, content: bytes, file: str, offset: int) -> str:
        """Takes one record, which begins at that byte of the file; what is wrong with it, or an empty string."""
        try:
            record = self._line.decode(content)
            if bytes(record.steps) != NULL:
                self._steps.decode(record.steps)
            code = self._code(record)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            return f"not a record: {problem}"
        if record.schema > SCHEMA_VERSION:
            return f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})"
        if record.status != OK and record.status not in FAILURES:
            return f"unknown status '{record.status}'"
        if record.status == OK and not (record.summary or record.printed):
            return "not a record: it is ok, and has no figures"
        columns = self.columns
        columns.codes.append(code)
        columns.files.append(file)
        columns.offsets.append(offset)
        texts, figures = columns.texts, columns.figures
        for name in ("id", "status", "started", "sweep", "message"):
            texts[name].append(getattr(record, name))
        texts["verdict"].append(record.contention.verdict if record.contention else "")
        given = record.allocation
        texts["job"].append(given.job if given else None)
        texts["partition"].append(given.partition if given else None)
        texts["device_asked"].append(columns.dimensions[code]["device_asked"])
        for name, value in zip(FIGURES, self._figures(record, code)):
            figures[name].append(value)
        return ""

    def _code(self, record: Any) -> int:
        source = record.source
        places = (source.server, source.device, source.interconnect, source.runtime) if source else None
        ran_on = record.allocation.ran_on if record.allocation else ""
        batch = record.printed.effective_batch if record.printed and record.status == OK else None
        key = (bytes(record.case), bytes(record.software), bytes(record.machine), record.origin, places, ran_on, batch)
        code = self._known.get(key)
        if code is None:
            code = self._known[key] = len(self.columns.dimensions)
            self.columns.dimensions.append(self._dimensions(record, places, ran_on, batch))
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

    def _figures(self, record: Any, code: int) -> tuple[float | None, ...]:
        """In the order of FIGURES."""
        waits = (
            record.allocation.queue_seconds if record.allocation else None,
            record.staging.seconds if record.staging else None,
        )
        if record.status != OK:
            return (*(None,) * (len(FIGURES) - len(waits)), *waits)
        share = record.cost.limit_share if record.cost else None
        peak = record.resources.peak_bytes if record.resources else None
        if record.printed is None:
            s = record.summary
            times = (s.p50_seconds * 1e3, s.p90_seconds * 1e3, s.p95_seconds * 1e3, s.p99_seconds * 1e3)
            return (s.mean_seconds * 1e3, s.mean_speed, s.uncertainty, s.jitter, s.ci_low, s.ci_high, *times, share, peak, *waits)
        p = record.printed
        batch = self.columns.dimensions[code]["effective_batch"]
        seconds, speed = p.mean_seconds, p.mean_speed
        if batch and seconds is None and speed:
            seconds = batch / speed
        if batch and speed is None and seconds:
            speed = batch / seconds
        rest = [_milliseconds(t) for t in (p.p50_seconds, p.p90_seconds, p.p95_seconds, p.p99_seconds)]
        return (_milliseconds(seconds), speed, p.uncertainty, p.jitter, None, None, *rest, None, p.peak_bytes, *waits)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3

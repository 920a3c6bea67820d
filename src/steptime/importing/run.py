"""An import as a whole: many files read by several processes, stored in batches, each file wholly or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from steptime.core.errors import UsageError
from steptime.importing.recognise import Importer, Outcome, load_all, read
from steptime.store.files import Store
from steptime.store.process_pool import MOST_PROCESSES, outcomes
from steptime.store.rows import Row, row_of

PARALLEL_FROM = 64
"""files: below, starting processes takes longer than reading"""
BATCH_BYTES = 32 << 20
Line = tuple[str, bytes]


@dataclass(frozen=True)
class Read:
    """An outcome as it crosses from a reading process: records already encoded, with the rows that are shown."""

    path: Path
    tool: str
    reason: str
    line: int
    side: bool
    lines: list[Line] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


@dataclass
class Report:
    """What an import did, file by file."""

    files: list[Read] = field(default_factory=list)
    added: int = 0
    present: int = 0
    batches: list[Path] = field(default_factory=list)

    @property
    def refused(self) -> list[Read]:
        return [file for file in self.files if file.reason and not file.side]


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Folders are walked, hidden names left out; every file once, in the order of names."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(Path(folder) / name for folder, folders, names in _walk(path) for name in names)
            found.update(dict.fromkeys(inside))
        elif path.exists():
            found[path] = None
        else:
            raise UsageError(f"no such file or folder: {path}")
    return list(found)


def _walk(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, folders, [name for name in names if not name.startswith(".")]


def run(store: Store | None, paths: list[Path], chosen: Importer | None = None, processes: int = 0) -> Report:
    """Imports into the store; without one, only says what would be imported."""
    report = Report()
    known = {identity for identity, _ in store.ids()} if store else set()
    waiting: list[Line] = []
    size = 0
    for outcome in _outcomes(paths, chosen, processes or len(os.sched_getaffinity(0)), rows=store is None):
        fresh = [line for line in outcome.lines if line[0] not in known]
        known.update(identity for identity, _ in fresh)
        report.added += len(fresh)
        report.present += len(outcome.lines) - len(fresh)
        report.files.append(_light(outcome))
        waiting += fresh
        size += sum(len(content) for _, content in fresh)
        if store and size > BATCH_BYTES:
            report.batches.append(store.put_lines(waiting))
            waiting, size = [], 0
    if store and waiting:
        report.batches.append(store.put_lines(waiting))
    return report


def _light(outcome: Read) -> Read:
    """Without the records, which are in the store or in the way."""
    ids = [(identity, b"") for identity, _ in outcome.lines]
    return Read(outcome.path, outcome.tool, outcome.reason, outcome.line, outcome.side, ids, outcome.rows)


def _outcomes(paths: list[Path], chosen: Importer | None, processes: int, rows: bool) -> Iterator[Read]:
    if len(paths) < PARALLEL_FROM or chosen:
        yield from _read_all(paths, rows, chosen)
        return
    load_all()
    shares = [paths[start : start + 32] for start in range(0, len(paths), 32)]
    for found in outcomes(partial(_read_all, rows=rows), shares, min(processes, MOST_PROCESSES)):
        yield from found


def _read_all(paths: Iterable[Path], rows: bool, chosen: Importer | None = None) -> list[Read]:
    return [_encoded(read(path, chosen), rows) for path in paths]


def _encoded(outcome: Outcome, rows: bool) -> Read:
    lines = [(record.id, msgspec.json.encode(record)) for record in outcome.records]
    shown = [row_of(record) for record in outcome.records] if rows else []
    return Read(outcome.path, outcome.tool, outcome.reason, outcome.line, outcome.side, lines, shown)

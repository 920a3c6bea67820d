"""A whole import: files are read by several processes and stored in batches, each file completely or not at all."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from steptime.core.errors import UsageError
from steptime.importing.outliers import Figure, figure_of, figures_in, outliers
from steptime.importing.recognise import Importer, Outcome, load_all, read
from steptime.importing.stored_results import ResultKey, StoredResults, key_of
from steptime.store.columns import Row, row_of
from steptime.store.files import Store
from steptime.store.process_pool import MOST_PROCESSES, outcomes

PARALLEL_FROM = 64
"""files; fewer are read sooner than processes are started"""
BATCH_BYTES = 32 << 20
READ_BEFORE = "are in the store from an earlier import, which read it differently; --replace replaces them"
Line = tuple[str, bytes]


@dataclass(frozen=True)
class EncodedOutcome:
    """An outcome as a reading process returns it: encoded records, and what is shown and compared of them."""

    path: Path
    tool: str
    reason: str
    line: int
    supplementary: bool
    sha256: str = ""
    lines: list[Line] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    keys: list[ResultKey] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)


@dataclass
class Report:
    """What an import did, file by file."""

    files: list[EncodedOutcome] = field(default_factory=list)
    added: int = 0
    present: int = 0
    replaced: int = 0
    """records of earlier imports that were removed, since their file is now read differently"""
    batches: list[Path] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """outliers"""

    @property
    def refused(self) -> list[EncodedOutcome]:
        return [file for file in self.files if file.reason and not file.supplementary]


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Folders are walked, hidden names left out; every file once, in the order of names."""
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(Path(folder) / name for folder, folders, names in _walk(path) for name in names)
            files.update(dict.fromkeys(inside))
        elif path.exists():
            files[path] = None
        else:
            raise UsageError(f"no such file or folder: {path}")
    return list(files)


def _walk(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, folders, [name for name in names if not name.startswith(".")]


def run(
    store: Store | None, paths: list[Path], chosen: Importer | None = None, processes: int = 0, replace: bool = False
) -> Report:
    """Imports into the store; without one, only reports what would be imported."""
    report, writer = Report(), BatchWriter(store, replace)
    stored = figures_in(store) if store else []
    figures: list[Figure] = []
    for outcome in _outcomes(paths, chosen, processes or len(os.sched_getaffinity(0)), rows=store is None):
        taken = writer.add(outcome, report)
        figures += taken.figures
        report.files.append(_without_content(taken))
    writer.finish(report)
    report.warnings = list(outliers(figures, stored))
    return report


class BatchWriter:
    """Decides which records of each file are new, and writes them in batches."""

    def __init__(self, store: Store | None, replace: bool) -> None:
        self.store, self.replace = store, replace
        self.stored = StoredResults(store.batch_lines() if store else ())
        self.known = self.stored.ids | ({path.stem for path in store.paths() if path.suffix == ".json"} if store else set())
        self.pending: list[Line] = []
        self.size = 0
        self.replaced_ids: set[str] = set()
        """to be removed once the records that replace them are stored"""

    def add(self, outcome: EncodedOutcome, report: Report) -> EncodedOutcome:
        """The outcome as it is reported: a file whose records would be stored twice is refused, unless they are replaced."""
        earlier = self.stored.replaced_by(outcome.tool, outcome.sha256, outcome.keys) if outcome.sha256 else []
        if earlier and not self.replace:
            return EncodedOutcome(
                outcome.path, outcome.tool, f"{len(earlier)} records of it {READ_BEFORE}", 0, supplementary=False
            )
        self.replaced_ids.update(earlier)
        fresh = [line for line in outcome.lines if line[0] not in self.known]
        self.known.update(identity for identity, _ in fresh)
        report.added += len(fresh)
        report.present += len(outcome.lines) - len(fresh)
        self.pending += fresh
        self.size += sum(len(content) for _, content in fresh)
        if self.size > BATCH_BYTES:
            self._write(report)
        return outcome

    def finish(self, report: Report) -> None:
        self._write(report)
        if self.store and self.replaced_ids:
            self.store.remove_from_batches(self.replaced_ids)
        report.replaced = len(self.replaced_ids)

    def _write(self, report: Report) -> None:
        if self.store and self.pending:
            report.batches.append(self.store.put_lines(self.pending))
        self.pending, self.size = [], 0


def _without_content(outcome: EncodedOutcome) -> EncodedOutcome:
    """Without the records, which are stored or not wanted, and take memory."""
    ids = [(identity, b"") for identity, _ in outcome.lines]
    return dataclasses.replace(outcome, lines=ids, keys=[], figures=[])


def _outcomes(paths: list[Path], chosen: Importer | None, processes: int, rows: bool) -> Iterator[EncodedOutcome]:
    if len(paths) < PARALLEL_FROM or chosen:
        yield from _read_all(paths, rows, chosen)
        return
    load_all()
    shares = [paths[start : start + 32] for start in range(0, len(paths), 32)]
    for share in outcomes(partial(_read_all, rows=rows), shares, min(processes, MOST_PROCESSES)):
        yield from share


def _read_all(paths: Iterable[Path], rows: bool, chosen: Importer | None = None) -> list[EncodedOutcome]:
    return [_encoded(read(path, chosen), rows) for path in paths]


def _encoded(outcome: Outcome, rows: bool) -> EncodedOutcome:
    made = [row_of(record) for record in outcome.records]
    figures = (
        figure_of(row, f"{outcome.path}:{r.source.line if r.source else 0}") for row, r in zip(made, outcome.records, strict=True)
    )
    return EncodedOutcome(
        path=outcome.path,
        tool=outcome.tool,
        reason=outcome.reason,
        line=outcome.line,
        supplementary=outcome.supplementary,
        sha256=outcome.sha256,
        lines=[(record.id, msgspec.json.encode(record)) for record in outcome.records],
        rows=made if rows else [],
        keys=[key_of(record) for record in outcome.records],
        figures=[figure for figure in figures if figure],
    )

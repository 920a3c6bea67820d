"""Finds the importer of a file: the first, in the order of names, that recognises it."""

from __future__ import annotations

import importlib
import pkgutil
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Protocol

from steptime.core.schema import Record
from steptime.importing import formats as importers
from steptime.importing.record import one_line, record_of
from steptime.importing.source_file import Entry, File, Refused, SupplementaryFile


class Importer(Protocol):
    TOOL: str

    def looks_like(self, file: File) -> bool: ...

    def entries(self, file: File) -> Iterator[Entry]: ...


@dataclass(frozen=True)
class Outcome:
    """Of one file: all its records, or the reason why none."""

    path: Path
    tool: str = ""
    records: list[Record] = field(default_factory=list)
    reason: str = ""
    line: int = 0
    supplementary: bool = False
    """it holds no result, but is read with files that do, or describes a machine"""
    sha256: str = ""
    """of a file that an importer recognises"""


@cache
def importer_names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(importers.__path__)))


@cache
def importer(name: str) -> Importer:
    module: Importer = importlib.import_module(f"{importers.__name__}.{name}")
    return module


def load_all() -> None:
    """All at once, with signals held back: what Ctrl-C raises during an import is lost in libraries that catch everything."""
    main = threading.current_thread() is threading.main_thread()
    arrived: set[int] = set()
    before = {s: signal.signal(s, lambda number, _: arrived.add(number)) for s in (signal.SIGINT, signal.SIGTERM) if main}
    try:
        for name in importer_names():
            importer(name)
    finally:
        for held, handler in before.items():
            signal.signal(held, handler)
        for number in arrived:
            signal.raise_signal(number)


def read(path: Path, chosen: Importer | None = None) -> Outcome:
    """Never raises: a file that a parser does not expect is refused, and the others are imported."""
    tool = sha256 = ""
    try:
        file = File(path)
        if not file.content:
            raise Refused("it is empty")
        reader = chosen or _recognise(file)
        tool, sha256 = reader.TOOL, file.sha256
        records = [record_of(tool, file, entry) for entry in reader.entries(file)]
        if not records:
            raise Refused("it holds no result")
        return Outcome(path, tool, _with_unique_ids(records), sha256=sha256)
    except SupplementaryFile as problem:
        return Outcome(path, tool, reason=one_line(str(problem)), supplementary=True, sha256=sha256)
    except Refused as problem:
        return Outcome(path, tool, reason=one_line(str(problem)), line=problem.line)
    except OSError as problem:
        return Outcome(path, tool, reason=f"cannot be read: {problem.strerror}")
    except Exception as problem:  # the file may hold anything: what is wrong with it becomes the reason
        return Outcome(path, tool, reason=one_line(f"not understood: {type(problem).__name__}: {problem}"))


def _recognise(file: File) -> Importer:
    for name in importer_names():
        candidate = importer(name)
        if candidate.looks_like(file):
            return candidate
    raise Refused(
        "no importer knows it; --mapping FILE reads CSV and JSON of any shape"
        if not file.binary
        else "a binary file that no importer knows"
    )


def _with_unique_ids(records: list[Record]) -> list[Record]:
    """Results of one line and case get numbers, in their order."""
    seen: dict[str, int] = {}
    numbered = []
    for record in records:
        count = seen[record.id] = seen.get(record.id, 0) + 1
        numbered.append(record if count == 1 else replace(record, id=f"{record.id}-{count}"))
    return numbered

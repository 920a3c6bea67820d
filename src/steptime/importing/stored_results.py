"""Records of a file that are in the store as it was read before: by an earlier version, or at a place that told less.

They are found by the content of the file, so that a result is never in the store twice without a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from steptime.core.schema import Record

FIELDS = ("server", "model", "phase", "precision", "data_store")


class ResultKey(NamedTuple):
    """What tells a result of a file from its others, and the same content at one place from that at another."""

    id: str
    line: int
    server: str
    model: str
    phase: str
    precision: str
    data_store: str

    def replaces(self, earlier: ResultKey) -> bool:
        """What was not known before may be anything."""
        return self.line == earlier.line and all(getattr(earlier, name) in ("", getattr(self, name)) for name in FIELDS)


def key_of(record: Record | _Stored) -> ResultKey:
    case, source = record.case, record.source
    assert source
    return ResultKey(record.id, source.line, source.server, case.model, str(case.phase), str(case.precision), case.data_store)


class _Case(msgspec.Struct):
    model: str
    phase: str = ""
    precision: str = ""
    data_store: str = ""


class _Source(msgspec.Struct):
    tool: str
    line: int
    sha256: str
    server: str = ""


class _Stored(msgspec.Struct):
    id: str
    case: _Case
    source: _Source | None = None


class StoredResults:
    """Of the batches of a store: all ids, and what was read of each file."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.ids: set[str] = set()
        self._by_file: dict[tuple[str, str], list[ResultKey]] = defaultdict(list)
        decoder = msgspec.json.Decoder(_Stored)
        for line in lines:
            try:
                record = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue  # a damaged line; whoever reads the store says so
            self.ids.add(record.id)
            if record.source:
                self._by_file[record.source.tool, record.source.sha256].append(key_of(record))

    def replaced_by(self, tool: str, sha256: str, now: Sequence[ResultKey]) -> list[str]:
        """Ids of what was read of a file before and is read otherwise now; all, where it holds no result any more."""
        ids = {key.id for key in now}
        by_line: dict[int, list[ResultKey]] = defaultdict(list)
        for key in now:
            by_line[key.line].append(key)
        earlier = (key for key in self._by_file.get((tool, sha256), ()) if key.id not in ids)
        return [e.id for e in earlier if not now or any(key.replaces(e) for key in by_line[e.line])]

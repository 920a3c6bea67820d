"""Records in the store that an earlier import made of the same file, but read differently: with an older version of steptime,
with another mapping, or from a path that says less.

They are found by the content of the file, so that no result is stored twice unnoticed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from steptime.core.schema import Record

FIELDS = ("server", "model", "phase", "precision", "data_store")


class ResultKey(NamedTuple):
    """Identifies a result among those of its file, and tells the same content at two paths apart."""

    id: str
    line: int
    server: str
    model: str
    phase: str
    precision: str
    data_store: str

    def replaces(self, earlier: ResultKey) -> bool:
        """A field that was empty before matches any value."""
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
    """In the batches of a store: all ids, and the results of each file."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.ids: set[str] = set()
        self._by_file: dict[tuple[str, str], list[ResultKey]] = defaultdict(list)
        decoder = msgspec.json.Decoder(_Stored)
        for line in lines:
            try:
                record = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue  # a damaged line; reading the store reports it
            self.ids.add(record.id)
            if record.source:
                self._by_file[record.source.tool, record.source.sha256].append(key_of(record))

    def replaced_by(self, tool: str, sha256: str, now: Sequence[ResultKey]) -> list[str]:
        """Ids of earlier results of a file that are now read differently; all of them, if it no longer holds any result."""
        ids = {key.id for key in now}
        by_line: dict[int, list[ResultKey]] = defaultdict(list)
        for key in now:
            by_line[key.line].append(key)
        earlier = (key for key in self._by_file.get((tool, sha256), ()) if key.id not in ids)
        return [e.id for e in earlier if not now or any(key.replaces(e) for key in by_line[e.line])]

"""The index: rows of the record files as Parquet segments, and a rollup of one row per configuration. Derived.

    STORE/index/manifest.json     which segments and which rollup make the index; replaced as a whole
                a1b2.parquet      rows
                a1b2.files.json   the record files they come from, with size and time of change
                c3d4.rollup.parquet

Only new files are parsed. Writers take turns by a lock; should two ever write at once, the manifest of one wins and the
files of the other are read again at the next look: nothing is counted twice. Readers need no lock: what a manifest names
is never changed, and is removed only when it has been out of use for a while. A store that cannot be written is indexed
in a private folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from steptime.atomic import write_bytes
from steptime.store import rollup, tables
from steptime.store.files import Damaged, Store
from steptime.store.flatten import DIMENSIONS, FIGURES, TEXTS, Flattener

if TYPE_CHECKING:
    import duckdb

FORMAT = zlib.crc32(repr((1, DIMENSIONS, TEXTS, FIGURES)).encode())
"""another one, as other columns make it, has every older index built anew"""
CHUNK = 200_000
SMALL, MOST_SMALL = 50_000, 8
"""segments of fewer rows are merged when there are more of them than this"""
LOCK_SECONDS = 60.0
RETIRED_SECONDS = 3600.0
SETTLED_SECONDS = 2.0
"""a folder that changed more recently may change again without its time of change showing it"""

Stamp = tuple[int, int]
"""size and time of change of a file, in bytes and nanoseconds"""


class Segment(msgspec.Struct, frozen=True):
    name: str
    rows: int


class Manifest(msgspec.Struct, frozen=True):
    format: int = FORMAT
    segments: tuple[Segment, ...] = ()
    rollup: str = ""

    @property
    def rows(self) -> int:
        return sum(s.rows for s in self.segments)


@dataclass
class Segments:
    """The index of one store, as one process sees it."""

    store: Store
    folder: Path = field(init=False)
    manifest: Manifest = field(default_factory=Manifest)
    damaged: list[Damaged] = field(default_factory=list)
    """what the last refresh found"""
    _seen: dict[str, Stamp] = field(default_factory=dict)
    _folders: dict[str, int] = field(default_factory=dict)
    _private: tempfile.TemporaryDirectory[str] | None = None

    def __post_init__(self) -> None:
        self.folder = self.store.root / "index"

    def paths(self) -> list[str]:
        """The Parquet files that hold all rows."""
        return [str(self.folder / f"{s.name}.parquet") for s in self.manifest.segments]

    @property
    def rollup_path(self) -> str:
        return str(self.folder / f"{self.manifest.rollup}.rollup.parquet")

    def refresh(self) -> bool:
        """Takes in what is new; whether the index differs from before."""
        self.damaged = []
        before = self.manifest
        now = self._folder_times()
        if before.rollup and now == self._folders:
            return False
        with self._turn():
            self._read_manifest()
            self._catch_up()
        settled = time.time_ns() - int(SETTLED_SECONDS * 1e9)
        self._folders = now if all(t < settled for t in now.values()) else {}
        return self.manifest != before

    def _folder_times(self) -> dict[str, int]:
        found = {}
        for folder in (self.store.records_folder, *self.store.records_folder.glob("*"), *self.store.records_folder.glob("*/*/")):
            with contextlib.suppress(OSError):
                if folder.is_dir():
                    found[str(folder)] = folder.stat().st_mtime_ns
        return found

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One writer at a time; where the folder or the lock is not to be had, a folder of our own."""
        lock = None
        if self._private is None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
                _wait_for(lock)
            except OSError:
                self._private = tempfile.TemporaryDirectory(prefix="steptime-index-")
                self.folder, self._seen, self.manifest = Path(self._private.name), {}, Manifest()
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)

    def _read_manifest(self) -> None:
        try:
            found = msgspec.json.decode((self.folder / "manifest.json").read_bytes(), type=Manifest)
        except (OSError, msgspec.DecodeError):
            found = Manifest()
        if found.format != FORMAT or not all((self.folder / f"{s.name}.parquet").exists() for s in found.segments):
            found = Manifest()
        if found != self.manifest:
            self.manifest = found
            self._seen = {}
            for segment in found.segments:
                self._seen.update(_files(self.folder / f"{segment.name}.files.json"))

    def _catch_up(self) -> None:
        current = _stamps(self.store)
        if any(current.get(path) != stamp for path, stamp in self._seen.items()):
            self.manifest, self._seen = Manifest(), {}  # something was taken away or replaced: rare, so all is read again
        new = [path for path in current if path not in self._seen]
        if not new and self.manifest.rollup:
            return
        connection = tables.connect()
        added = list(self._written(connection, new, current))
        segments = (*self.manifest.segments, *added)
        rolled = self._roll_up(connection, [str(self.folder / f"{s.name}.parquet") for s in added], segments)
        segments = self._merged(connection, segments)
        self._commit(Manifest(FORMAT, segments, rolled))

    def _written(self, connection: duckdb.DuckDBPyConnection, new: Sequence[str], current: dict[str, Stamp]) -> Iterator[Segment]:
        """New files as segments of at most about CHUNK rows each."""
        earlier = self.paths()
        flattener, taken = Flattener(), {}
        for position, name in enumerate(new):
            taken[name] = self._take(flattener, name, current[name])
            if len(flattener.columns) >= CHUNK or position == len(new) - 1:
                segment = self._write(connection, flattener, taken, earlier)
                earlier.append(str(self.folder / f"{segment.name}.parquet"))
                self._seen.update(taken)
                yield segment
                flattener, taken = Flattener(), {}
        if not new and not self.manifest.segments:
            yield self._write(connection, flattener, {}, [])  # an empty one, so that there are columns to ask for

    def _take(self, flattener: Flattener, name: str, stamp: Stamp) -> Stamp:
        """One file's records; what is damaged goes into quarantine, as everywhere."""
        path = self.store.root / name
        try:
            content = path.read_bytes()
        except OSError:
            return stamp
        lines = content.splitlines(keepends=True) if path.suffix == ".jsonl" else [content]
        reasons: list[str] = []
        offset = 0
        for line in lines:
            reason = flattener.add(line, name, offset)
            if reason:
                reasons.append(reason)
            offset += len(line)
        if not reasons:
            return stamp
        _, broken = self.store.load(path)
        self.damaged += broken or [Damaged(path, reason) for reason in reasons]
        return _stamp(path) or stamp

    def _write(
        self, connection: duckdb.DuckDBPyConnection, flattener: Flattener, taken: dict[str, Stamp], earlier: Sequence[str]
    ) -> Segment:
        name = secrets.token_hex(8)
        path = self.folder / f"{name}.parquet"
        rows = tables.write(connection, flattener.columns, earlier, path)
        write_bytes(self.folder / f"{name}.files.json", msgspec.json.encode([(p, *s) for p, s in taken.items()]))
        return Segment(name, rows)

    def _roll_up(self, connection: duckdb.DuckDBPyConnection, added: Sequence[str], segments: Sequence[Segment]) -> str:
        name = secrets.token_hex(8)
        paths = [str(self.folder / f"{s.name}.parquet") for s in segments]
        old = self.rollup_path if self.manifest.rollup else ""
        rollup.write(connection, paths, added, old, str(self.folder / f"{name}.rollup.parquet"), sum(s.rows for s in segments))
        return name

    def _merged(self, connection: duckdb.DuckDBPyConnection, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """Records that arrive one by one would else make a segment each."""
        small = [s for s in segments if s.rows < SMALL]
        if len(small) <= MOST_SMALL:
            return segments
        name = secrets.token_hex(8)
        files: dict[str, Stamp] = {}
        for segment in small:
            files.update(_files(self.folder / f"{segment.name}.files.json"))
        tables.merge(connection, [str(self.folder / f"{s.name}.parquet") for s in small], self.folder / f"{name}.parquet")
        write_bytes(self.folder / f"{name}.files.json", msgspec.json.encode([(p, *s) for p, s in files.items()]))
        return (*(s for s in segments if s.rows >= SMALL), Segment(name, sum(s.rows for s in small)))

    def _commit(self, manifest: Manifest) -> None:
        write_bytes(self.folder / "manifest.json", msgspec.json.encode(manifest))
        left, self.manifest = _names(self.manifest) - _names(manifest), manifest
        for path in self.folder.iterdir():
            name = path.name.partition(".")[0]
            with contextlib.suppress(OSError):
                if name in left:
                    os.utime(path)  # others may be reading it; from now on it is out of use
                elif name not in {*_names(manifest), "manifest", "lock"} and time.time() - path.stat().st_mtime > RETIRED_SECONDS:
                    path.unlink()

    def adopt(self, rows: dict[str, int]) -> None:
        """Segments that were written elsewhere, by name, with their number of rows."""
        segments = (*self.manifest.segments, *(Segment(name, count) for name, count in rows.items()))
        added = [str(self.folder / f"{name}.parquet") for name in rows]
        self._commit(Manifest(FORMAT, segments, self._roll_up(tables.connect(), added, segments)))

    def rebuild(self) -> None:
        """Forgets everything that was derived."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.manifest, self._seen, self._folders = Manifest(), {}, {}
        self.refresh()


def _names(manifest: Manifest) -> set[str]:
    return {s.name for s in manifest.segments} | {manifest.rollup}


def _wait_for(lock: int) -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _stamp(path: Path) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _stamps(store: Store) -> dict[str, Stamp]:
    found = {}
    for path in store.paths():
        stamp = _stamp(path)
        if stamp:
            found[str(path.relative_to(store.root))] = stamp
    return found


def _files(path: Path) -> dict[str, Stamp]:
    try:
        listed = msgspec.json.decode(path.read_bytes(), type=list[tuple[str, int, int]])
    except (OSError, msgspec.DecodeError):
        return {}
    return {name: (size, changed) for name, size, changed in listed}

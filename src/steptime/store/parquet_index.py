"""The index: rows of the record files as Parquet segments, and a rollup of one row per configuration. Derived.

    STORE/index/manifest.json     which segments and which rollup make the index; replaced as a whole
                a1b2.parquet      rows
                a1b2.files.json   the record files they come from, with size and time of change, and whether they repeat ids
                c3d4.rollup.parquet
                folders.json      when the folders of records had changed last, so that they need not be looked through

Only new files are parsed; when files are removed, the segments that had their rows are written anew. A lock lets one process
write at a time; should two ever write at once, the manifest of one wins and the files of the other are read again at the
next refresh: nothing is counted twice. Readers need no lock: what a manifest names is never changed, and is removed only when
it has been out of use for a while. A store that cannot be written is indexed in a private folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from steptime.core.atomic import write_bytes
from steptime.core.machine.cpus import usable_threads
from steptime.store import rollup, tables
from steptime.store.columns import TABLE
from steptime.store.devices import device_table
from steptime.store.files import Damaged, Store
from steptime.store.intake import Outcome, Share, cut, take_in
from steptime.store.process_pool import MOST_PROCESSES, outcomes

if TYPE_CHECKING:
    import duckdb

FORMAT = zlib.crc32(repr((6, [(c.name, c.sql, c.per_run, c.configures) for c in TABLE], device_table())).encode())
"""another one, as other columns or names of devices make it, has every older index built anew"""
LEAST_SHARE, MOST_SHARE, PARALLEL_BYTES = 16 << 20, 192 << 20, 48 << 20
"""bytes of record files that make a segment; from how many on other processes help, which take a third of a second to start"""
SMALL, MOST_SMALL = 50_000, 8
"""segments of fewer rows are merged when there are more of them than this"""
LOCK_SECONDS = 60.0
RETIRED_SECONDS = 3600.0
TIMESTAMP_MARGIN_SECONDS = 2.0
"""a folder that changed more recently may change again without its time of change showing it"""

Stamp = tuple[int, int]
"""size and time of change of a file, in bytes and nanoseconds"""


class Seen(NamedTuple):
    """A file whose rows are in the index."""

    stamp: Stamp
    repeated: bool
    """some of its records were left out, since their ids were there already"""


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


class Folders(msgspec.Struct, frozen=True):
    """Of an index that was whole: its rollup, and when each folder of records had changed."""

    rollup: str
    folders: dict[str, int]


@dataclass
class ParquetIndex:
    """The index of one store, as one process sees it."""

    store: Store
    folder: Path = field(init=False)
    manifest: Manifest = field(default_factory=Manifest)
    damaged: list[Damaged] = field(default_factory=list)
    """what the last refresh found"""
    _seen: dict[str, Seen] = field(default_factory=dict)
    _seen_read: bool = True
    """whether the files of the manifest's segments are in `_seen`"""
    _folders: dict[str, int] = field(default_factory=dict)
    _private: tempfile.TemporaryDirectory[str] | None = None

    def __post_init__(self) -> None:
        self.folder = self.store.root / "index"

    def paths(self) -> list[str]:
        """The Parquet files that hold all rows."""
        return [str(self._path(s)) for s in self.manifest.segments]

    @property
    def rollup_path(self) -> str:
        return str(self.folder / f"{self.manifest.rollup}.rollup.parquet")

    def open(self) -> None:
        """As it was written last, without a look at the record files."""
        self.manifest, self._seen, self._seen_read = self._stored_manifest(), {}, False

    def file_names(self) -> set[str]:
        """The record files whose rows it has, relative to the store."""
        return {name for segment in self.manifest.segments for name, *_ in self._listed_files(segment)}

    def refresh(self) -> bool:
        """Takes in what is new; whether the index differs from before."""
        self.damaged = []
        before = self.manifest
        now = self._folder_times()
        if before.rollup and now == self._folders:
            return False
        started = time.time_ns()
        with self._write_lock():
            self._read_manifest()
            noted = self._noted_folders()
            if now != noted or not self.manifest.rollup:
                self._catch_up()
        certain = started - int(TIMESTAMP_MARGIN_SECONDS * 1e9)
        self._folders = now if all(t < certain for t in now.values()) else {}
        if self._folders and self._folders != noted:
            note = Folders(self.manifest.rollup, self._folders)
            write_bytes(self.folder / "folders.json", msgspec.json.encode(note))
        return self.manifest != before

    def _noted_folders(self) -> dict[str, int]:
        """As they were when the index was last found to be whole; empty: look."""
        try:
            noted = msgspec.json.decode((self.folder / "folders.json").read_bytes(), type=Folders)
        except (OSError, msgspec.DecodeError):
            return {}
        return noted.folders if self.manifest.rollup and noted.rollup == self.manifest.rollup else {}

    def _folder_times(self) -> dict[str, int]:
        times = {}
        for folder in (self.store.records_folder, *self.store.records_folder.glob("*"), *self.store.records_folder.glob("*/*/")):
            with contextlib.suppress(OSError):
                if folder.is_dir():
                    times[str(folder)] = folder.stat().st_mtime_ns
        return times

    @contextlib.contextmanager
    def _write_lock(self) -> Iterator[None]:
        """One writer at a time. Where the folder cannot be written or the lock is not released, a private folder is used."""
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

    def _stored_manifest(self) -> Manifest:
        try:
            manifest = msgspec.json.decode((self.folder / "manifest.json").read_bytes(), type=Manifest)
        except (OSError, msgspec.DecodeError):
            return Manifest()
        whole = manifest.format == FORMAT and all(self._path(s).exists() for s in manifest.segments)
        return manifest if whole else Manifest()

    def _read_manifest(self) -> None:
        manifest = self._stored_manifest()
        if manifest != self.manifest or not self._seen_read:
            self.manifest, self._seen, self._seen_read = manifest, {}, True
            for segment in manifest.segments:
                self._note(self._files(segment))

    def _catch_up(self) -> None:
        current = _stamps(self.store)
        gone = {name for name, seen in self._seen.items() if current.get(name) != seen.stamp}
        if gone:  # what they had may also be in files that came later, which are read again
            gone |= {name for name, seen in self._seen.items() if seen.repeated}
        new = [name for name in current if name not in self._seen or name in gone]
        if not new and not gone and self.manifest.rollup:
            return
        connection = tables.connect()
        kept = tuple(self._kept(connection, gone))
        added = tuple(self._written(connection, new, current, kept))
        touched = [tables.files([str(self._path(s))]) for s in added] + (["removed"] if gone else [])
        segments = (*kept, *added)
        rolled = self._roll_up(connection, touched, segments)
        self._commit(Manifest(FORMAT, self._merged(connection, segments), rolled))

    def _kept(self, connection: duckdb.DuckDBPyConnection, gone: set[str]) -> Iterator[Segment]:
        """The segments, those with rows of files that are gone without them."""
        for segment in self.manifest.segments:
            files = self._files(segment)
            if gone.isdisjoint(files):
                yield segment
                continue
            name = secrets.token_hex(8)
            rows = tables.without(connection, self._path(segment), gone & files.keys(), self.folder / f"{name}.parquet")
            if rows:
                yield self._listed(Segment(name, rows), {file: seen for file, seen in files.items() if file not in gone})
        for file in gone:
            self._seen.pop(file, None)

    def _written(
        self, connection: duckdb.DuckDBPyConnection, new: Sequence[str], current: dict[str, Stamp], kept: Sequence[Segment]
    ) -> Iterator[Segment]:
        """New files as segments, on all cores where there is much of it."""
        stamps = {name: current[name] for name in new}
        shares, results = self._taken_in(stamps, lenient=False)
        if any(outcome.damaged for outcome in results):
            self._quarantine({file: reason for outcome in results for file, reason in outcome.damaged})
            stamps = {name: stamp for name in new if (stamp := _stamp(self.store.root / name))}
            shares, results = self._taken_in(stamps, lenient=True)
        if not shares and not kept:  # an empty one, so that there are columns to ask for
            from steptime.store.flatten import Flattener

            empty = self._listed(Segment(secrets.token_hex(8), 0), {})
            tables.write(connection, Flattener(), self._path(empty))
            yield empty
        paths = [Path(share.target) for share in shares]
        earlier = [str(self._path(s)) for s in kept]
        repeats_ids = tables.repeats(connection, [str(path) for path in paths], earlier) if paths else False
        for path, share, outcome in zip(paths, shares, results, strict=True):
            rows, repeated = outcome.rows, set(outcome.repeated)
            if repeats_ids and earlier:
                target = self.folder / f"{secrets.token_hex(8)}.parquet"
                rows, lost = tables.once(connection, path, earlier, target)
                path, repeated = target, repeated | lost
            earlier.append(str(path))
            names = dict.fromkeys(piece.file for piece in share.pieces)
            yield self._listed(Segment(path.stem, rows), {name: Seen(stamps[name], name in repeated) for name in names})

    def _taken_in(self, stamps: dict[str, Stamp], lenient: bool) -> tuple[list[Share], list[Outcome]]:
        total = sum(size for size, _ in stamps.values())
        processes = min(usable_threads(), MOST_PROCESSES) if total >= PARALLEL_BYTES else 1
        most = min(max(total // (3 * processes), LEAST_SHARE), MOST_SHARE)
        parts = cut({name: size for name, (size, _) in stamps.items()}, most)
        shares = [Share(part, str(self.folder / f"{secrets.token_hex(8)}.parquet"), lenient) for part in parts]
        return shares, list(outcomes(partial(take_in, self.store.root), shares, processes))

    def _quarantine(self, reasons: dict[str, str]) -> None:
        """Damaged files and lines, as everywhere."""
        for name, reason in reasons.items():
            path = self.store.root / name
            _, broken = self.store.load(path)
            self.damaged += broken or [Damaged(path, reason)]

    def _listed(self, segment: Segment, files: dict[str, Seen]) -> Segment:
        """With the list of its files beside it."""
        self._note(files)
        listed = [(file, *seen.stamp, seen.repeated) for file, seen in files.items()]
        write_bytes(self.folder / f"{segment.name}.files.json", msgspec.json.encode(listed))
        return segment

    def _note(self, files: dict[str, Seen]) -> None:
        """That these are in the index. A file may have rows in several segments."""
        for name, (stamp, repeated) in files.items():
            self._seen[name] = Seen(stamp, repeated or (name in self._seen and self._seen[name].repeated))

    def _path(self, segment: Segment) -> Path:
        return self.folder / f"{segment.name}.parquet"

    def _files(self, segment: Segment) -> dict[str, Seen]:
        return {name: Seen((size, changed), repeated) for name, size, changed, repeated in self._listed_files(segment)}

    def _listed_files(self, segment: Segment) -> list[tuple[str, int, int, bool]]:
        try:
            content = (self.folder / f"{segment.name}.files.json").read_bytes()
            return msgspec.json.decode(content, type=list[tuple[str, int, int, bool]])
        except (OSError, msgspec.DecodeError):
            return []

    def _roll_up(self, connection: duckdb.DuckDBPyConnection, touched: Sequence[str], segments: Sequence[Segment]) -> str:
        name = secrets.token_hex(8)
        old = self.rollup_path if self.manifest.rollup else ""
        target, rows = str(self.folder / f"{name}.rollup.parquet"), sum(s.rows for s in segments)
        rollup.write(connection, [str(self._path(s)) for s in segments], touched, old, target, rows)
        return name

    def _merged(self, connection: duckdb.DuckDBPyConnection, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """Records that arrive one by one would else make a segment each."""
        small = [s for s in segments if s.rows < SMALL]
        if len(small) <= MOST_SMALL:
            return segments
        files: dict[str, Seen] = {}
        for segment in small:
            files.update(self._files(segment))
        merged = Segment(secrets.token_hex(8), sum(s.rows for s in small))
        tables.merge(connection, [str(self._path(s)) for s in small], self._path(merged))
        return (*(s for s in segments if s.rows >= SMALL), self._listed(merged, files))

    def _commit(self, manifest: Manifest) -> None:
        write_bytes(self.folder / "manifest.json", msgspec.json.encode(manifest))
        left, self.manifest = _names(self.manifest) - _names(manifest), manifest
        kept = {*_names(manifest), "manifest", "folders", "lock"}
        for path in self.folder.iterdir():
            name = path.name.partition(".")[0]
            with contextlib.suppress(OSError):
                if name in left:
                    os.utime(path)  # others may be reading it; from now on it is out of use
                elif name not in kept and time.time() - path.stat().st_mtime > RETIRED_SECONDS:
                    path.unlink()

    def adopt(self, rows: dict[str, int]) -> None:
        """ParquetIndex that were written elsewhere, by name, with their number of rows."""
        added = tuple(Segment(name, count) for name, count in rows.items())
        segments, touched = (*self.manifest.segments, *added), [tables.files([str(self._path(s))]) for s in added]
        self._commit(Manifest(FORMAT, segments, self._roll_up(tables.connect(), touched, segments)))


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
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _stamps(store: Store) -> dict[str, Stamp]:
    stamps = {}
    for path in store.paths():
        stamp = _stamp(path)
        if stamp:
            stamps[str(path.relative_to(store.root))] = stamp
    return stamps

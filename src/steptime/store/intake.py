"""A share of the record files to one segment: what can be done anywhere, in this process or in one beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from steptime.store import tables

if TYPE_CHECKING:
    from steptime.store.flatten import Flattener

BLOCK_BYTES = 1 << 19
"""read and decoded at once: more would not fit into a core's cache, and cost a fifth more"""


class Piece(msgspec.Struct, frozen=True):
    """Some lines of a batch, or a whole file of one record."""

    file: str
    begin: int
    end: int


class Share(msgspec.Struct, frozen=True):
    pieces: tuple[Piece, ...]
    target: str
    """the segment to write"""
    lenient: bool = False
    """whether whole lines beside damaged ones count"""


class Outcome(msgspec.Struct, frozen=True):
    rows: int
    repeated: tuple[str, ...] = ()
    """files with an id that had come before in this share"""
    damaged: tuple[tuple[str, str], ...] = ()
    """files and what is wrong with each; unless lenient, nothing was written then"""


def cut(sizes: dict[str, int], most: int) -> list[tuple[Piece, ...]]:
    """The files in order, in shares of about that many bytes. Where a piece of a batch begins and ends inside a line, the line
    belongs to the piece in which it begins."""
    shares: list[list[Piece]] = [[]]
    room = most
    for file, size in sizes.items():
        begin = 0
        while True:
            end = min(size, begin + room) if file.endswith(".jsonl") else size
            shares[-1].append(Piece(file, begin, end))
            room -= end - begin
            if room <= 0:
                shares.append([])
                room = most
            if end == size:
                break
            begin = end
    return [tuple(share) for share in shares if share]


def take_in(root: Path, share: Share) -> Outcome:
    from steptime.store.flatten import Flattener  # brings numpy, which a look into an index has no need of

    rows = Flattener()
    damaged = [(piece.file, reason) for piece in share.pieces for reason in _take(root, piece, rows, share.lenient)]
    if damaged and not share.lenient:
        return Outcome(0, (), tuple(damaged))
    connection = tables.connect()
    count = tables.write(connection, rows, Path(share.target))
    connection.close()
    return Outcome(count, tuple(sorted(rows.repeated)), tuple(damaged))


def _take(root: Path, piece: Piece, rows: Flattener, lenient: bool) -> Iterator[str]:
    """What is wrong with it. A file that has gone away in between holds nothing."""
    path = root / piece.file
    try:
        if path.suffix == ".jsonl":
            for offset, content in _blocks(path, piece):
                yield from rows.add_lines(content, piece.file, offset, lenient)
        elif reason := rows.add(path.read_bytes(), piece.file):
            yield reason
    except FileNotFoundError:
        return
    except OSError as problem:
        yield f"cannot be read: {problem.strerror}"


def _blocks(path: Path, piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Whole lines, and where each block of them begins."""
    with open(path, "rb") as opened:
        if piece.begin:
            opened.seek(piece.begin - 1)
            opened.readline()
        offset = opened.tell()
        while offset < piece.end:
            content = opened.read(min(BLOCK_BYTES, piece.end - offset))
            if not content:
                return
            if not content.endswith(b"\n"):
                content += opened.readline()
            yield offset, content
            offset += len(content)

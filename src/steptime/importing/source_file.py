"""A file that another tool wrote, and the entries that an importer reads from it."""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from steptime.core.errors import SteptimeError
from steptime.core.schema import Profile, Status

MAX_BYTES = 64 << 20
"""of a file on disk; what people call a log is far smaller"""
MAX_UNPACKED_BYTES = 256 << 20
MAX_RATIO = 200
"""of unpacked to packed: traces reach 30"""
HEAD_CHARACTERS = 1 << 18
MAX_ROUNDING = 0.5
"""beyond, a figure of one digit would excuse a wrong unit"""


class Refused(SteptimeError):
    """The file is not imported: the reason, and its line."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


class SupplementaryFile(Refused):
    """It holds no result: it is read together with files that do, or only describes a machine."""


@dataclass(frozen=True)
class Entry:
    """One result in the source's own words. Empty and 0 mean: the source does not say."""

    line: int = 0
    tool: str = ""
    """where a table has results of several"""
    same_as: str = ""
    """equal in every file that holds this very result, such as a table in CSV and in JSON"""
    model: str = ""
    model_options: dict[str, int | float | bool | str] = field(default_factory=dict)
    framework: str = ""
    version: str = ""
    phase: str = ""
    precision: str = ""
    batch: int = 0
    """of one replica"""
    global_batch: int = 0
    """of all replicas, where the source has no other"""
    devices: int = 0
    """per node"""
    nodes: int = 0
    device: str = ""
    device_kind: str = ""
    """cpu, gpu or tpu, where the name alone does not say"""
    server: str = ""
    interconnect: str = ""
    runtime: str = ""
    threads: int = 0
    data: str = ""
    data_store: str = ""
    optimizer: str = ""
    started: str = ""
    status: Status = Status.OK
    message: str = ""
    log_tail: str = ""
    seconds: float | None = None
    """of one step"""
    speed: float | None = None
    """samples per second, of all replicas together"""
    uncertainty: float | None = None
    jitter: float | None = None
    rounding: float = 0.0
    """of speed x time, as a share: what `rounding` says of each, added up"""
    n: int | None = None
    percentiles: dict[int, float] = field(default_factory=dict)
    min_seconds: float | None = None
    max_seconds: float | None = None
    peak_bytes: int | None = None
    steps: list[float] = field(default_factory=list)
    """seconds of every step, where the source kept them"""
    first_loss: float | None = None
    last_loss: float | None = None
    others: dict[str, float] = field(default_factory=dict)
    profile: Profile | None = None
    settings: dict[str, str] = field(default_factory=dict)
    """what else changes the work, by the names of Source.settings"""
    labels: dict[str, str] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class File:
    """Read once and lazily; unpacked if it is gzipped; never more than the limits above."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    @cached_property
    def packed(self) -> bytes:
        about = self.path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise Refused("not a regular file")
        size = about.st_size
        if size > MAX_BYTES:
            raise Refused(f"{size / 1e6:.0f} MB; the limit is {MAX_BYTES >> 20} MiB")
        return self.path.read_bytes()

    @cached_property
    def content(self) -> bytes:
        return _unpack(self.packed) if self.packed[:2] == b"\x1f\x8b" else self.packed

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.packed).hexdigest()

    @cached_property
    def text(self) -> str:
        """As UTF-8, or UTF-16 where it says so, or Latin-1, which reads anything."""
        if self.content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return self.content.decode("utf-16", errors="replace")
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.content.decode("latin-1")

    @cached_property
    def head(self) -> str:
        return self.text[:HEAD_CHARACTERS]

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def binary(self) -> bool:
        return b"\0" in self.content[:4096] and self.content[:2] not in (b"\xff\xfe", b"\xfe\xff")

    @cached_property
    def json(self) -> Any:
        """None if it is not JSON. Not a number and infinity are read, so that they can be refused by name."""
        start = self.content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start not in (b"{", b"["):
            return None
        try:
            return msgspec.json.decode(self.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def path_text(self) -> str:
        """The end of the path, in which many tools say what they measured."""
        return "/".join(self.path.absolute().parts[-6:])

    def sibling(self, name: str) -> File | None:
        """Another file relative to this one's folder, if it is there."""
        path = self.path.parent / name
        return File(path) if path.is_file() else None

    def line_of(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1


def _unpack(packed: bytes) -> bytes:
    """gzip, up to a limit: a few kilobytes can hold gigabytes of zeroes."""
    limit = min(MAX_UNPACKED_BYTES, MAX_RATIO * len(packed) + (1 << 20))
    decoder = zlib.decompressobj(wbits=31)
    try:
        content = decoder.decompress(packed, limit)
        if decoder.unconsumed_tail:
            raise Refused(f"it unpacks to more than {limit / 1e6:.0f} MB, the limit for its size")
        return content + decoder.flush()
    except zlib.error as problem:
        raise Refused(f"damaged gzip: {problem}") from None


NUMBER = r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,4})?"
"""bounded, since `\\d+.?\\d*` takes time quadratic in the length of a line that does not match"""


def number(text: object) -> float | None:
    """A finite or infinite figure as printed, `1,234.5` too; None where there is none."""
    if isinstance(text, bool):
        return None
    if isinstance(text, (int, float)):
        return float(text)
    if not isinstance(text, str):
        return None
    try:
        return float(text.strip().replace(",", ""))
    except ValueError:
        return None


def rounding(*figures: object) -> float:
    """Half of the last printed digit of each figure as a share of it, added up: 0.1 for `0.05`."""
    return min(sum(_rounding(str(figure)) for figure in figures), MAX_ROUNDING)


def _rounding(text: str) -> float:
    digits, _, _ = text.strip().lower().replace(",", "").lstrip("+-").partition("e")
    value = number(digits)
    if not value or not math.isfinite(value):
        return 0.0
    return 0.5 * 10.0 ** -len(digits.partition(".")[2]) / value


def whole_number(text: object) -> int:
    """A count; 0 where there is none."""
    value = number(text)
    return int(value) if value is not None and abs(value) < 1e15 and value == int(value) else 0


def first_group(pattern: str, text: str) -> str:
    """The first group of the first match; empty if there is none."""
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1) if match else ""


def dict_at(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under that key; an empty one where there is none."""
    value = content.get(key)
    return value if isinstance(value, dict) else {}

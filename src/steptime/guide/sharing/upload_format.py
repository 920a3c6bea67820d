"""How records travel from `steptime push` to a guide: lines of JSON to one address, answered by a receipt."""

from __future__ import annotations

import msgspec

from steptime.core.schema import Record

PATH = "/api/records"
MAX_RECORD_BYTES = 8_000_000


class RecordLine(msgspec.Struct):
    """One line of a request: a record and the end of its log."""

    record: Record
    log: str = ""


class Refusal(msgspec.Struct, frozen=True):
    """A record that is not stored, and why."""

    line: int
    id: str
    reason: str


class Receipt(msgspec.Struct, frozen=True):
    """The answer to a request: how many records are new, how many were stored already."""

    stored: int
    known: int
    logs: int = 0
    refused: tuple[Refusal, ...] = ()

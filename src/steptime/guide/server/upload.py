"""Records that others send (`steptime push`): judged one by one, then stored as the store stores any.

A request is lines of JSON, `{"record": {..}, "log": ".."}`, gzipped or not. What is wrong with the request (size, compression,
something that is not lines of records) refuses all of it. What is wrong with one record refuses that one, by name; the others
are stored together: one file, all of them or none. A record that is here already, the same, is counted and not stored again;
one that differs from ours of the same id is refused, and ours stays.
"""

from __future__ import annotations

import asyncio
import re
import threading
import zlib
from dataclasses import dataclass, field

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from steptime.core.errors import SteptimeError, StoreError
from steptime.core.schema import FAILURES, OK, SCHEMA_VERSION, Record
from steptime.core.stats.invariants import broken_invariant
from steptime.guide.engine import Guide
from steptime.guide.query.logs import LOG_BYTES, keep_log
from steptime.guide.server.access import refuse
from steptime.store.files import Store

PATH = "/api/records"
MOST_BODY = 16_000_000
"""bytes of a request as it is sent"""
MOST_CONTENT = 64_000_000
"""bytes of a request when it is unpacked"""
MOST_RECORD = 8_000_000
MOST_RECORDS = 5_000
AT_ONCE = 4
"""requests whose bodies are read at the same time; others wait"""
IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
MOMENT = re.compile(r"(\d{4}-\d{2}(-\d{2}([T ][0-9:.]+(Z|[+-]\d{2}:?\d{2})?)?)?)?")


class Parcel(msgspec.Struct):
    """One line of a request."""

    record: Record
    log: str = ""


class Refusal(msgspec.Struct, frozen=True):
    line: int
    id: str
    reason: str


class Receipt(msgspec.Struct, frozen=True):
    """What became of a request."""

    stored: int
    known: int
    logs: int = 0
    refused: tuple[Refusal, ...] = ()


class TooMuch(SteptimeError):
    """More than is taken at once."""


class NotRecords(SteptimeError):
    """A request that cannot be read as lines of records."""


def unpacked(body: bytes, encoding: str) -> bytes:
    """The content of a request; never more than the limit, however small it was made."""
    if encoding in ("", "identity"):
        content = body
    elif encoding == "gzip":
        unpacker = zlib.decompressobj(wbits=31)
        try:
            content = unpacker.decompress(body, MOST_CONTENT + 1)
        except zlib.error as problem:
            raise NotRecords(f"not gzip: {problem}") from None
        if len(content) <= MOST_CONTENT and (not unpacker.eof or unpacker.unused_data):
            raise NotRecords("the gzip stream is cut off" if not unpacker.eof else "there is something behind the gzip stream")
    else:
        raise NotRecords("the content is plain or gzip")
    if len(content) > MOST_CONTENT:
        raise TooMuch(f"more than {MOST_CONTENT:,} bytes in one request; send fewer records at a time")
    return content


def parcels(content: bytes) -> list[Parcel | Refusal]:
    """What each line holds, or why it is refused."""
    lines = content.splitlines()
    if not lines:
        raise NotRecords("no records in it")
    if len(lines) > MOST_RECORDS:
        raise TooMuch(f"more than {MOST_RECORDS:,} records in one request; send fewer at a time")
    decoder = msgspec.json.Decoder(Parcel)
    return [_parcel(decoder, line, number) for number, line in enumerate(lines, 1)]


class _Named(msgspec.Struct):
    id: str = ""


class _NamedParcel(msgspec.Struct):
    record: _Named = msgspec.field(default_factory=_Named)


def _parcel(decoder: msgspec.json.Decoder[Parcel], line: bytes, number: int) -> Parcel | Refusal:
    if len(line) > MOST_RECORD:
        return Refusal(number, _name(line), f"more than {MOST_RECORD:,} bytes")
    try:
        parcel = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Refusal(number, _name(line), f"not a record: {problem}")
    reason = wrong_with(parcel.record)
    return Refusal(number, parcel.record.id[:128], reason) if reason else parcel


def _name(line: bytes) -> str:
    """The id of a record that cannot be read otherwise, if that can be."""
    try:
        return msgspec.json.decode(line, type=_NamedParcel).record.id[:128]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def wrong_with(record: Record) -> str:
    """Why a record may not be stored; empty if it may."""
    if not IDENTITY.fullmatch(record.id):
        return "an id has letters, digits, '.', '_' and '-', at most 128"
    if record.schema > SCHEMA_VERSION:
        return f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})"
    if record.status != OK and record.status not in FAILURES:
        return f"unknown status '{record.status[:40]}'"
    if not MOMENT.fullmatch(record.started):
        return "it does not say as UTC, ISO 8601, when it started"
    if record.sweep and not IDENTITY.fullmatch(record.sweep):
        return "a sweep's name has letters, digits, '.', '_' and '-', at most 128"
    case, told, used = record.case, record.printed, record.resources
    counts = [case.batch, case.devices, case.nodes, case.threads, case.effective_batch, told and told.effective_batch]
    sizes = [told and told.peak_bytes, used and used.peak_bytes]
    if not all(0 <= (n or 0) < 1 << 31 for n in counts) or not all(0 <= (n or 0) < 1 << 53 for n in sizes):
        return "a count in it is negative, or larger than anything there is"
    if record.status != OK:
        return ""
    try:
        return broken_invariant(record)
    except (ArithmeticError, ValueError) as problem:
        return f"its figures cannot be computed with: {problem}"


@dataclass
class Uploads:
    """Takes records into a store that a guide shows."""

    store: Store
    guide: Guide
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def take(self, content: bytes) -> Receipt:
        found = parcels(content)
        refused = [item for item in found if isinstance(item, Refusal)]
        fresh: dict[str, Parcel] = {}
        logs = known = 0
        with self._turn:  # so that two requests with the same id see each other
            self.guide.refresh()
            there = self.guide.records([item.record.id for item in found if isinstance(item, Parcel)])
            for number, item in enumerate(found, 1):
                if isinstance(item, Refusal):
                    continue
                twin = fresh.get(item.record.id)
                ours = twin.record if twin else there.get(item.record.id)
                if ours is not None and ours != item.record:
                    refused.append(Refusal(number, item.record.id, "another record of this id is here already, and stays"))
                    continue
                known += ours is not None
                logs += keep_log(self.store, item.record, item.log[-LOG_BYTES:])
                if ours is None:
                    fresh[item.record.id] = item
            if fresh:
                self.store.put_all([item.record for item in fresh.values()])
                self.guide.refresh()
        return Receipt(len(fresh), known, logs, tuple(sorted(refused, key=lambda r: r.line)))

    async def endpoint(self, request: Request) -> Response:
        async with self._room:
            try:
                body = await _body(request)
                encoding = request.headers.get("content-encoding", "").lower()
                receipt = await run_in_threadpool(lambda: self.take(unpacked(body, encoding)))
            except TooMuch as problem:
                return refuse(413, str(problem))
            except NotRecords as problem:
                return refuse(400, str(problem))
            except StoreError as problem:
                return refuse(507, str(problem))
            except ClientDisconnect:
                return refuse(400, "the request ended before its body did")
        return JSONResponse(msgspec.to_builtins(receipt), 422 if receipt.refused else 200)


async def _body(request: Request) -> bytes:
    parts, total = [], 0
    async for part in request.stream():
        total += len(part)
        if total > MOST_BODY:
            raise TooMuch(f"more than {MOST_BODY:,} bytes in one request; send fewer records at a time")
        parts.append(part)
    return b"".join(parts)

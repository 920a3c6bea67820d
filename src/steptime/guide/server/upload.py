"""Records that others send with `steptime push`: checked one by one, then stored.

A request is lines of JSON, `{"record": {..}, "log": ".."}`, gzipped or not. A fault of the request (size, compression, content
that is not lines of records) refuses all of it. A fault of one record refuses that record by name; the others are stored
together: one file, all of them or none. A record that is stored already is counted and not stored again; one that differs from
the stored record of the same id is refused.
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
from steptime.core.schema import FAILURES, SCHEMA_VERSION, Record, Status
from steptime.core.stats.invariants import broken_invariant
from steptime.guide.engine import Guide
from steptime.guide.query.logs import LOG_BYTES, keep_log
from steptime.guide.server.access import refuse
from steptime.guide.sharing.upload_format import MAX_RECORD_BYTES, Receipt, RecordLine, Refusal
from steptime.store.files import Store

MAX_BODY_BYTES = 16_000_000
"""of a request as it is sent"""
MAX_CONTENT_BYTES = 64_000_000
"""of a request when it is decompressed"""
MAX_RECORDS = 5_000
CONCURRENT_BODIES = 4
"""requests whose bodies are read at the same time; others wait"""
IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
TIMESTAMP = re.compile(r"(\d{4}-\d{2}(-\d{2}([T ][0-9:.]+(Z|[+-]\d{2}:?\d{2})?)?)?)?")


class TooLarge(SteptimeError):
    """More than one request may hold."""


class NotRecords(SteptimeError):
    """A request that cannot be read as lines of records."""


def decompressed(body: bytes, encoding: str) -> bytes:
    """The content of a request; never more than the limit, however well it was compressed."""
    if encoding in ("", "identity"):
        content = body
    elif encoding == "gzip":
        decompressor = zlib.decompressobj(wbits=31)
        try:
            content = decompressor.decompress(body, MAX_CONTENT_BYTES + 1)
        except zlib.error as problem:
            raise NotRecords(f"not gzip: {problem}") from None
        if len(content) <= MAX_CONTENT_BYTES and (not decompressor.eof or decompressor.unused_data):
            raise NotRecords("the gzip stream is cut off" if not decompressor.eof else "there is data after the gzip stream")
    else:
        raise NotRecords("the content is neither plain nor gzip")
    if len(content) > MAX_CONTENT_BYTES:
        raise TooLarge(f"more than {MAX_CONTENT_BYTES:,} bytes in one request; send fewer records at a time")
    return content


def record_lines(content: bytes) -> list[RecordLine | Refusal]:
    """The record of each line, or why it is refused."""
    lines = content.splitlines()
    if not lines:
        raise NotRecords("the request has no records")
    if len(lines) > MAX_RECORDS:
        raise TooLarge(f"more than {MAX_RECORDS:,} records in one request; send fewer at a time")
    decoder = msgspec.json.Decoder(RecordLine)
    return [_record_line(decoder, line, number) for number, line in enumerate(lines, 1)]


class _IdRecord(msgspec.Struct):
    id: str = ""


class _IdLine(msgspec.Struct):
    record: _IdRecord = msgspec.field(default_factory=_IdRecord)


def _record_line(decoder: msgspec.json.Decoder[RecordLine], line: bytes, number: int) -> RecordLine | Refusal:
    if len(line) > MAX_RECORD_BYTES:
        return Refusal(number, _name(line), f"more than {MAX_RECORD_BYTES:,} bytes")
    try:
        decoded = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Refusal(number, _name(line), f"not a record: {problem}")
    reason = fault_of(decoded.record)
    return Refusal(number, decoded.record.id[:128], reason) if reason else decoded


def _name(line: bytes) -> str:
    """The id of a record that is damaged otherwise; empty where even that cannot be read."""
    try:
        return msgspec.json.decode(line, type=_IdLine).record.id[:128]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def fault_of(record: Record) -> str:
    """Why a record may not be stored; empty if it may."""
    if not IDENTITY.fullmatch(record.id):
        return "an id has letters, digits, '.', '_' and '-', at most 128"
    if record.schema > SCHEMA_VERSION:
        return f"written by a newer steptime (schema {record.schema}, this one reads {SCHEMA_VERSION})"
    if record.status != Status.OK and record.status not in FAILURES:
        return f"unknown status '{record.status[:40]}'"
    if not TIMESTAMP.fullmatch(record.started):
        return "its start is not a time in UTC, as ISO 8601"
    if record.sweep and not IDENTITY.fullmatch(record.sweep):
        return "a sweep's name has letters, digits, '.', '_' and '-', at most 128"
    case, printed, used = record.case, record.printed, record.resources
    counts = [case.batch, case.devices, case.nodes, case.threads, case.effective_batch, printed and printed.effective_batch]
    sizes = [printed and printed.peak_bytes, used and used.peak_bytes]
    if not all(0 <= (n or 0) < 1 << 31 for n in counts) or not all(0 <= (n or 0) < 1 << 53 for n in sizes):
        return "one of its counts is negative or impossibly large"
    if record.status != Status.OK:
        return ""
    try:
        return broken_invariant(record)
    except (ArithmeticError, ValueError) as problem:
        return f"its figures are out of range: {problem}"


@dataclass
class Uploads:
    """Stores what is uploaded, and shows it in the guide."""

    store: Store
    guide: Guide
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT_BODIES))

    def store_lines(self, content: bytes) -> Receipt:
        lines = record_lines(content)
        refused = [line for line in lines if isinstance(line, Refusal)]
        new: dict[str, RecordLine] = {}
        logs = known = 0
        with self._lock:  # so that two requests with the same id see each other
            self.guide.refresh()
            stored = self.guide.records([line.record.id for line in lines if isinstance(line, RecordLine)])
            for number, line in enumerate(lines, 1):
                if isinstance(line, Refusal):
                    continue
                twin = new.get(line.record.id)
                existing = twin.record if twin else stored.get(line.record.id)
                if existing is not None and existing != line.record:
                    refused.append(Refusal(number, line.record.id, "a different record of this id is stored already"))
                    continue
                known += existing is not None
                logs += keep_log(self.store, line.record, line.log[-LOG_BYTES:])
                if existing is None:
                    new[line.record.id] = line
            if new:
                self.store.put_all([line.record for line in new.values()])
                self.guide.refresh()
        return Receipt(len(new), known, logs, tuple(sorted(refused, key=lambda r: r.line)))

    async def endpoint(self, request: Request) -> Response:
        async with self._slots:
            try:
                body = await _body(request)
                encoding = request.headers.get("content-encoding", "").lower()
                receipt = await run_in_threadpool(lambda: self.store_lines(decompressed(body, encoding)))
            except TooLarge as problem:
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
        if total > MAX_BODY_BYTES:
            raise TooLarge(f"more than {MAX_BODY_BYTES:,} bytes in one request; send fewer records at a time")
        parts.append(part)
    return b"".join(parts)

"""The client of server/upload.py: sends records to a guide that runs elsewhere, some at a time."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import msgspec

from steptime.core.errors import StoreError, UsageError
from steptime.core.schema import Record
from steptime.guide.query.logs import log_of
from steptime.guide.sharing.upload_format import MAX_RECORD_BYTES, PATH, Receipt, RecordLine
from steptime.store.files import Store

REQUEST_BYTES, REQUEST_RECORDS = 8_000_000, 500
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True)
class Target:
    """A guide, as its address says."""

    scheme: str
    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def connect(self) -> http.client.HTTPConnection:
        if self.scheme == "https":
            return http.client.HTTPSConnection(self.host, self.port, timeout=TIMEOUT_SECONDS)
        return http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_SECONDS)


def target_of(address: str, token: str) -> Target:
    """From an address as `steptime guide` prints it; `token` takes precedence over a token in the address."""
    shown = address.partition("?")[0]  # without the token, which belongs in no log
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        token_in_address = dict(parse_qsl(parts.query)).get("token", "")
    except ValueError as problem:
        raise UsageError(f"'{shown}' is not an address: {problem}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"'{shown}' is not the address of a guide, such as http://node7:8765")
    token = token or token_in_address
    if not token:
        raise UsageError("a token is needed: --token, --token-file, STEPTIME_TOKEN, or the whole address that the guide printed")
    if not token.isascii() or not token.isprintable():
        raise UsageError("a token has printable ASCII characters only")
    return Target(parts.scheme, host, port, token)


def push(target: Target, store: Store, records: Iterable[Record], on_receipt: Callable[[Receipt], None]) -> None:
    """Sends them; `on_receipt` gets each answer, so that the caller knows how far it came when something fails."""
    connection = target.connect()
    try:
        for lines in requests_of(store, records):
            on_receipt(_send(connection, target, lines))
    finally:
        connection.close()


def requests_of(store: Store, records: Iterable[Record]) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    size = 0
    for record in records:
        line = msgspec.json.encode(RecordLine(record, log_of(store, record)[0]))
        if len(line) > MAX_RECORD_BYTES:
            raise UsageError(f"record {record.id} is {len(line):,} bytes; a guide takes at most {MAX_RECORD_BYTES:,} of each")
        if lines and (size + len(line) > REQUEST_BYTES or len(lines) >= REQUEST_RECORDS):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def _send(connection: http.client.HTTPConnection, target: Target, lines: Sequence[bytes]) -> Receipt:
    body = gzip.compress(b"\n".join(lines) + b"\n", compresslevel=5)
    headers = {
        "Authorization": f"Bearer {target.token}",
        "Content-Type": "application/x-ndjson",
        "Content-Encoding": "gzip",
    }
    try:
        connection.request("POST", PATH, body, headers)
        answer = connection.getresponse()
        content = answer.read(1 << 22)
    except (OSError, http.client.HTTPException) as problem:
        raise UsageError(f"{target.url}: {_reason(problem)}") from None
    if answer.status in (200, 422):
        try:
            return msgspec.json.decode(content, type=Receipt)
        except msgspec.DecodeError:
            pass
    raise (StoreError if answer.status == 507 else UsageError)(f"{target.url}: {_error_text(answer.status, content)}")


def _reason(problem: Exception) -> str:
    if isinstance(problem, ConnectionRefusedError):
        return "nothing listens there; is the guide running?"
    if isinstance(problem, socket.gaierror):
        return "no such host"
    if isinstance(problem, ssl.SSLError):
        return f"TLS failed: {problem.reason or problem}"
    if isinstance(problem, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:.0f} s"
    if isinstance(problem, http.client.HTTPException):
        return "the server there is not a guide"
    return str(getattr(problem, "strerror", None) or problem or "the connection broke")


def _error_text(status: int, content: bytes) -> str:
    """The guide's error message on one line; other servers send none."""
    try:
        message = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        return f"the server there is not a guide (HTTP {status})"
    return " ".join(str(message).split())[:500]

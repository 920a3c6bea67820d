"""What every request must pass before anything looks at it, and what every response carries.

Loopback is protected by the Host header: a page elsewhere that has its own name pointed at 127.0.0.1 (DNS rebinding) sends that
name. Any other address is protected by a token, which is compared in constant time, and kept by the browser in a cookie that
scripts cannot read.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
SAFETY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
COOKIE = "steptime_token"
LONGEST_TARGET = 24_000


@dataclass(frozen=True)
class Gate:
    """An ASGI application around another."""

    inner: ASGIApp
    token: str = ""
    uploads: str = ""
    """the path to which records may be posted, by who has the token; empty: nowhere"""
    most_body: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.inner(scope, receive, send)
            return
        refused = self.refusal(scope)
        await (refused or self.inner)(scope, receive, _with_safety(send))

    def refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if scope["method"] == "POST":
            return self._not_an_upload(scope, headers)
        if scope["method"] not in ("GET", "HEAD"):
            return refuse(405, "the guide only answers GET")
        if len(scope["path"]) + len(scope["query_string"]) > LONGEST_TARGET:
            return refuse(414, f"an address of more than {LONGEST_TARGET} characters")
        if headers.get("content-length", "0") not in ("", "0") or "transfer-encoding" in headers:
            return refuse(413, "a request here has no body")
        if not self.token:
            return None if _host(headers.get("host", "")) in LOOPBACK else refuse(421, "this guide answers to localhost only")
        return self._without_token(scope, headers)

    def _not_an_upload(self, scope: Scope, headers: Headers) -> Response | None:
        """The token must be in the header: a cookie is sent by any page that can make a browser send something."""
        if not self.uploads or not self.token:
            return refuse(405, "this guide takes no records: start it with --accept")
        if scope["path"] != self.uploads:
            return refuse(405, "the guide only answers GET here")
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not self._right(given):
            return refuse(401, "wrong token" if given else "a token is needed")
        length = headers.get("content-length", "")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
            return refuse(411, "say how long the body is")
        if len(length) > 12 or int(length) > self.most_body:
            return refuse(413, f"more than {self.most_body:,} bytes in one request; send fewer records at a time")
        return None

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """A token in the address is moved into a cookie, so that it is not in links that are copied."""
        if self._right(_cookie(headers)) or self._right(headers.get("authorization", "").removeprefix("Bearer ")):
            return None
        try:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=300)
        except ValueError:
            return refuse(400, "not a query string")
        given = [value for key, value in pairs if key == "token"]
        if len(given) != 1 or not self._right(given[0]):
            return refuse(401, "a token is needed: open the address that `steptime guide` printed")
        rest = urlencode([(k, v) for k, v in pairs if k != "token"])
        path = scope["path"] if scope["path"].startswith("/guide") else "/guide"
        answer = RedirectResponse(path + ("?" + rest if rest else ""), 303)
        answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", max_age=30 * 86400)
        return answer

    def _right(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), self.token.encode())


def refuse(status: int, words: str) -> JSONResponse:
    return JSONResponse({"error": words}, status)


def _host(header: str) -> str:
    """The name in a Host header, without the port."""
    name = header.lower()
    return name.rpartition(":")[0] if ":" in name and not name.endswith("]") and name.count(":") != 2 else name


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")[:4096]).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _with_safety(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SAFETY_HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return wrapped

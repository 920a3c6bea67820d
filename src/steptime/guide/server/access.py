"""Who may ask: what every request is checked for first, and the security headers of every response.

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
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
COOKIE = "steptime_token"
MAX_TARGET_LENGTH = 24_000


@dataclass(frozen=True)
class AccessControl:
    """An ASGI application around another, which sees only requests that are allowed."""

    inner: ASGIApp
    token: str = ""
    uploads: str = ""
    """the path to which those who have the token may post records; empty: nowhere"""
    max_body_bytes: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.inner(scope, receive, send)
            return
        refusal = self.refusal(scope)
        await (refusal or self.inner)(scope, receive, _with_security_headers(send))

    def refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if scope["method"] == "POST":
            return self._upload_refusal(scope, headers)
        if scope["method"] not in ("GET", "HEAD"):
            return refuse(405, "the guide only answers GET")
        if len(scope["path"]) + len(scope["query_string"]) > MAX_TARGET_LENGTH:
            return refuse(414, f"an address of more than {MAX_TARGET_LENGTH} characters")
        if headers.get("content-length", "0") not in ("", "0") or "transfer-encoding" in headers:
            return refuse(413, "a request here has no body")
        if not self.token:
            return None if _host(headers.get("host", "")) in LOOPBACK else refuse(421, "this guide answers to localhost only")
        return self._token_refusal(scope, headers)

    def _upload_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The token must be in the header: any page can make a browser send a request with the cookie."""
        if not self.uploads or not self.token:
            return refuse(405, "this guide takes no records: start it with --accept")
        if scope["path"] != self.uploads:
            return refuse(405, "the guide only answers GET here")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self._is_token(token):
            return refuse(401, "wrong token" if token else "a token is needed")
        length = headers.get("content-length", "")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
            return refuse(411, "say how long the body is")
        if len(length) > 12 or int(length) > self.max_body_bytes:
            return refuse(413, f"more than {self.max_body_bytes:,} bytes in one request; send fewer records at a time")
        return None

    def _token_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """A token in the address is moved into a cookie, so that it is not in links that are copied."""
        if self._is_token(_cookie(headers)) or self._is_token(headers.get("authorization", "").removeprefix("Bearer ")):
            return None
        try:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=300)
        except ValueError:
            return refuse(400, "not a query string")
        tokens = [value for key, value in pairs if key == "token"]
        if len(tokens) != 1 or not self._is_token(tokens[0]):
            return refuse(401, "a token is needed: open the address that `steptime guide` printed")
        rest = urlencode([(k, v) for k, v in pairs if k != "token"])
        path = scope["path"] if scope["path"].startswith("/guide") else "/guide"
        answer = RedirectResponse(path + ("?" + rest if rest else ""), 303)
        answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", max_age=30 * 86400)
        return answer

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "surrogatepass"), self.token.encode())


def refuse(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)


def _host(header: str) -> str:
    """The name in a Host header, without the port."""
    name = header.lower()
    return name.rpartition(":")[0] if ":" in name and not name.endswith("]") and name.count(":") != 2 else name


def _cookie(headers: Headers) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")[:4096]).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _with_security_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return wrapped

"""The Performance Guide as a web application: one page, a JSON API, and every view as a file at its own address.

    /guide?x=model&group=precision         the page; .csv .json .svg .png .vl.json after /guide give the same view as a file
    /api/meta  /api/version                what there is; whether it has changed
    /api/view?..  /api/facets?..           the answer to a view; the values of filters with their counts
    /api/alike?..                          the view with filters that make its points comparable
    /api/runs?..  /api/run/ID              the runs behind a view or a point; one run, whole
    POST /api/records                      accepts records if the guide was started with --accept (upload.py)

Endpoints are plain functions, which Starlette runs in threads; the engine takes any number of them at once.
"""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from steptime.core.errors import SteptimeError, StoreError, UnknownRun, UsageError
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import kind
from steptime.guide.kinds.run import complete_run
from steptime.guide.server import answers, upload
from steptime.guide.server.access import AccessControl, refuse
from steptime.guide.sharing.export import MEDIA_TYPES, file_of
from steptime.guide.sharing.upload_format import PATH
from steptime.guide.view.view import LONGEST_QUERY, View
from steptime.guide.web.assets import Asset, assets
from steptime.store.files import Store

COMPRESS_FROM_BYTES = 2000
REFRESH_SECONDS = 1.0
"""how often, at most, the store is searched for new records"""


@dataclass
class LiveGuide:
    """A guide that takes in new records when its version is asked for, at most once a second."""

    guide: Guide
    _refreshed: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def version(self) -> str:
        if self._lock.acquire(blocking=False):
            try:
                if time.monotonic() - self._refreshed >= REFRESH_SECONDS:
                    self.guide.refresh()
                    self.guide.snapshot.load_rollup()  # now, not in a reader's first chart
                    self._refreshed = time.monotonic()
            finally:
                self._lock.release()
        return self.guide.version


def application(store: Store, token: str = "", accept: bool = False) -> AccessControl:
    """`accept`: whether those who have the token may add records."""
    guide = Guide(store)
    guide.refresh()
    guide.snapshot.load_rollup()
    live = LiveGuide(guide)
    routes = [
        Route("/api/meta", _json(lambda request: answers.meta(guide))),
        Route("/api/version", _json(lambda request: {"version": live.version()})),
        Route("/api/view", _json(lambda request: _for_page(guide, _view(request)))),
        Route("/api/alike", _json(lambda request: {"query": guide.alike(_view(request)).query()})),
        Route("/api/facets", _json(lambda request: answers.facets_answer(guide, _view(request)))),
        Route("/api/runs", _json(lambda request: answers.runs_answer(guide, _pairs(request)))),
        Route("/api/run/{name}", _json(lambda request: complete_run(guide, request.path_params["name"]))),
        *(Route(f"/guide.{suffix}", _file(guide, suffix)) for suffix in MEDIA_TYPES),
        *(Route(path, _asset(asset)) for path, asset in assets().items()),
    ]
    if accept:
        routes.append(Route(PATH, upload.Uploads(store, guide).endpoint, methods=["POST"]))
    pages = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    return AccessControl(pages, token, PATH if accept else "", upload.MAX_BODY_BYTES)


def _http_error(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return refuse(problem.status_code, "no such page" if problem.status_code == 404 else str(problem.detail))


def _for_page(guide: Guide, view: View) -> Any:
    return kind(view.kind).for_page(guide, view)


def _query(request: Request) -> str:
    """Strictly UTF-8: bytes that are not text are refused, not guessed at."""
    raw: bytes = request.scope["query_string"]
    if len(raw) > LONGEST_QUERY:
        raise UsageError(f"an address of more than {LONGEST_QUERY} characters is not a view")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("an address is UTF-8 text") from None


def _view(request: Request) -> View:
    return View.parse(_query(request))


def _pairs(request: Request) -> list[tuple[str, str]]:
    try:
        return parse_qsl(_query(request), keep_blank_values=True, max_num_fields=200, errors="strict")
    except (ValueError, UnicodeDecodeError) as problem:
        raise UsageError(f"not a query string: {problem}") from None


def _json(make: Callable[[Request], Any]) -> Callable[[Request], Response]:
    """Compressed where it is long: guides are also read through SSH tunnels."""

    def respond(request: Request) -> Response:
        content = msgspec.json.encode(make(request))
        if len(content) < COMPRESS_FROM_BYTES or "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(content, media_type="application/json", headers={"vary": "accept-encoding"})
        headers = {"vary": "accept-encoding", "content-encoding": "gzip"}
        return Response(gzip.compress(content, 3), media_type="application/json", headers=headers)

    return _with_errors(respond)


def _file(guide: Guide, suffix: str) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        content = file_of(guide, _view(request), suffix)
        headers = {"content-disposition": f'inline; filename="steptime.{suffix}"'}
        return Response(content, media_type=MEDIA_TYPES[suffix], headers=headers)

    return _with_errors(respond)


def _with_errors(respond: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Bad input is answered with 4xx and one line; a run that does not exist with 404."""

    def endpoint(request: Request) -> Response:
        try:
            return respond(request)
        except UnknownRun as problem:
            return refuse(404, str(problem)[:2000])
        except UsageError as problem:
            return refuse(400, str(problem)[:2000])
        except StoreError as problem:
            return refuse(410, str(problem))
        except SteptimeError as problem:
            return refuse(422, str(problem))

    return endpoint


def _asset(asset: Asset) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        headers = {"etag": asset.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == asset.etag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(asset.plain, headers={**headers, "content-type": asset.content_type})
        return Response(asset.gzipped, headers={**headers, "content-type": asset.content_type, "content-encoding": "gzip"})

    return endpoint

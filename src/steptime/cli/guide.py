"""`steptime guide`: explore all results in the browser."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from contextlib import suppress

import click

from steptime.cli.options import open_store, store_option
from steptime.core.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command("guide")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes any free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="An address of this machine; all but loopback need a token.")
@click.option(
    "--token",
    envvar="STEPTIME_TOKEN",
    default="",
    help="Secret that other users need to open the guide.  [default: generated and printed]",
)
@click.option("--accept", is_flag=True, help="Accept records that others send with `steptime push`; they need the token.")
@click.option("--open/--no-open", "browser", default=None, help="Whether to open a browser.  [default: if there is a display]")
@click.option("--json", "as_json", is_flag=True, help="Print the address as one JSON object.")
@store_option
def command(port: int, host: str, token: str, accept: bool, browser: bool | None, as_json: bool, store_path: str | None) -> int:
    """Explore all results in the browser: axes, filters, groups, scaling, and the runs behind every point.

    Everything is served from this machine; nothing is fetched from anywhere. New records appear while it is open.
    """
    import uvicorn

    from steptime.guide.server.app import application

    store = open_store(store_path)
    token = token or ("" if host in LOOPBACK and not accept else secrets.token_urlsafe(18))
    if token and len(token) < 8:
        raise UsageError("a token has at least 8 characters")
    if accept:
        store.prepare()
    listener = _listen(host, port)
    address = _address(host, listener.getsockname()[1], token)
    app = application(store, token, accept)
    listener.listen(128)  # so that the printed address answers at once
    if as_json:
        print(json.dumps({"url": address, "store": str(store.root)}), flush=True)
    else:
        print(f"Performance Guide of {store.root}\n{address}\nCtrl-C ends it", flush=True)
    if browser or (browser is None and sys.stdout.isatty() and os.environ.get("DISPLAY")):
        import webbrowser

        webbrowser.open(address)
    config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, h11_max_incomplete_event_size=64_000)
    with suppress(KeyboardInterrupt):  # Ctrl-C is the usual end
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as problem:
        raise UsageError(
            f"cannot listen on {host}:{port}: {problem.strerror or problem}; choose another with --port or --host"
        ) from None
    return listener


def _address(host: str, port: int, token: str) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/guide" + (f"?token={token}" if token else "")

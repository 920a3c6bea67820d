"""A guide that really runs, over a store of possible results, and a real Chromium to look at it with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from steptime.store.files import Store
from tests.guide.demo import fill

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> Store:
    return fill(tmp_path_factory.mktemp("guide") / "store")


@pytest.fixture(scope="session")
def server(store) -> Iterator[str]:
    """The address of `steptime guide`, started as a user would."""
    command = [Path(sys.executable).with_name("steptime"), "guide", "--port", "0", "--no-open", "--json", "--store", store.root]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "120"})
    assert running.stdout
    url = json.loads(running.stdout.readline())["url"]
    yield url.removesuffix("/guide")
    running.terminate()
    running.wait(60)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page that remembers everything it should not have done."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base, self.complaints, self.strangers = page, base, [], []
        page.on("console", lambda m: m.type in ("error", "warning") and self.complaints.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: self.complaints.append(f"error: {e}"))
        page.on("dialog", lambda d: (self.complaints.append(f"a dialog: {d.message}"), d.dismiss()))
        page.on("request", lambda r: urlsplit(r.url).netloc != urlsplit(base).netloc and self.strangers.append(r.url))

    def open(self, address: str = "/guide") -> Any:
        self.page.goto(self.base + address)
        return self.ready()

    def ready(self) -> Any:
        self.page.wait_for_selector("body[data-ready]", timeout=60_000)
        return self.page

    def choose(self, label: str, value: str) -> Any:
        before = self.page.url
        self.page.get_by_label(label, exact=True).select_option(value)
        self.page.wait_for_url(lambda url: url != before)
        return self.ready()


@pytest.fixture
def visit(chromium, server) -> Iterator[Visit]:
    """After every test: nothing was said on the console, and no request went anywhere else."""
    context = chromium.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    context.set_default_timeout(60_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit = Visit(context.new_page(), server)
    yield visit
    context.close()
    assert visit.complaints == []
    assert visit.strangers == []

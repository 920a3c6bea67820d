"""What the guide costs its readers: seconds to the first chart, bytes on the wire, many readers at once, the size of a report."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

from steptime.core.errors import SetupError
from steptime.core.schema import Case, Contention, Cost, Machine, Record, Resources, Software, Summary
from steptime.store.files import Store

STEPTIME = Path(sys.executable).with_name("steptime")
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
Figures = Iterator[tuple[str, float, str]]
LIMITS = {
    "guide_first_chart": (1.0, "at most"),
    "guide_wire_kB": (400.0, "at most"),
    "guide_clients_p95": (0.3, "at most"),
    "guide_clients_errors": (0.0, "at most"),
    "report_10000_kB": (2000.0, "at most"),
}
RUNS = 10_000
CLIENTS, CLIENT_SECONDS = 8, 60.0


def guide_in_browser() -> Figures:
    """A cold browser (fresh profile, nothing cached) opens the seed's example on 10,000 runs."""
    if not CHROMIUM.exists():
        raise SetupError(f"no Chromium at {CHROMIUM}")
    with _served(RUNS) as base:
        seconds, wire = zip(*(_visit(base) for _ in range(5)), strict=True)
    words = f"s from the click to the chart, fresh browser, median of {len(seconds)} (best {min(seconds):.2f}), {RUNS:,} runs"
    yield "guide_first_chart", statistics.median(seconds), words
    yield "guide_wire_kB", max(wire) / 1e3, "kB on the wire until then"


def guide_clients() -> Figures:
    """Eight readers who change axes and filters as fast as they can."""
    with _served(RUNS) as base:
        took, errors = _hammer(base, CLIENTS, CLIENT_SECONDS)
    p95 = sorted(took)[int(0.95 * len(took))]
    words = f"s, 95th percentile of {len(took)} answers to {CLIENTS} clients in {CLIENT_SECONDS:.0f} s"
    yield "guide_clients_p95", p95, words
    yield "guide_clients_errors", float(errors), "answers that were not 200"


def report_size() -> Figures:
    with tempfile.TemporaryDirectory() as name:
        fill(Store(Path(name) / "store"), RUNS)
        target = Path(name) / "report.html"
        subprocess.run([STEPTIME, "report", target, "--store", Path(name) / "store"], check=True, stdout=subprocess.DEVNULL)
        yield "report_10000_kB", target.stat().st_size / 1e3, f"kB of a report of {RUNS:,} runs, charts and engine included"


def fill(store: Store, count: int) -> None:
    """Runs of 2,000 configurations, as different as real ones."""
    chance = random.Random(7)
    machines = [
        Machine(f"m{i}", f"node{i}", f"CPU {i}", 2, 32, 64, 64.0, 1 << 38, 1 << 38, "Debian 12", "6.1", "x86_64")
        for i in range(8)
    ]
    batch: list[Record] = []
    for i in range(count):
        case = Case(
            chance.choice(["alexnet", "googlenet", "resnet50", "vgg16", "mnist_cnn", "bert_base", "gpt2", "vit_b16"]),
            chance.choice(["pytorch", "tensorflow", "jax", "mxnet"]),
            chance.choice([8, 16, 32, 64, 128]),
            chance.choice(["training", "inference"]),
            chance.choice(["fp32", "bf16", "fp16"]),
            threads=chance.choice([1, 8]),
        )
        mean = case.batch / chance.lognormvariate(5, 1.2)
        speed = case.batch / mean
        times = [mean * f for f in (1.0, 1.1, 1.15, 1.3, 0.9, 1.5)]
        summary = Summary(
            200, case.batch, mean, speed, speed / 90, speed / 25, 0.95, speed * 0.98, speed * 1.02, "batch means", *times
        )
        batch.append(
            Record(
                f"20261116-{i:06d}-{chance.getrandbits(32):08x}",
                "ok",
                case,
                f"2026-{1 + i % 11:02d}-{1 + i % 28:02d}T10:00:00.000+00:00",
                summary=summary,
                cost=Cost(10**7, 10**8, 10**9, 1e9, 1e9 / mean, 1e13, chance.random()),
                contention=Contention(chance.choice(["clean"] * 9 + ["contended"]), "", 1.0, 1.0, 0.1, 3),
                resources=Resources(chance.randrange(10**8, 10**10), None, 1.0, 1.0, 0.1, 0.1, None),
                software=Software("3.11", "python", case.backend, "2.0", "0.1.0"),
                machine=chance.choice(machines),
            )
        )
    store.put_all(batch)


@contextmanager
def _served(count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        fill(Store(Path(name)), count)
        command = [STEPTIME, "guide", "--port", "0", "--no-open", "--json", "--store", name]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert running.stdout
            base = json.loads(running.stdout.readline())["url"].removesuffix("/guide")
            yield base
        finally:
            running.terminate()
            running.wait(20)


def _visit(base: str) -> tuple[float, float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        wire = 0.0

        def count(event: dict[str, float]) -> None:
            nonlocal wire
            wire += event["encodedDataLength"]

        devtools = page.context.new_cdp_session(page)
        devtools.send("Network.enable")
        devtools.on("Network.loadingFinished", count)
        began = time.perf_counter()
        page.goto(f"{base}/guide?group=precision", wait_until="commit")
        page.wait_for_selector("body[data-ready] .chart svg")
        took = time.perf_counter() - began
        browser.close()
    return took, wire


def _hammer(base: str, clients: int, seconds: float) -> tuple[list[float], int]:
    took: list[float] = []
    errors: list[int] = []
    end = time.monotonic() + seconds

    def read(seed: int) -> None:
        chance = random.Random(seed)
        connection = HTTPConnection(urlsplit(base).netloc, timeout=30)
        while time.monotonic() < end:
            began = time.perf_counter()
            try:
                connection.request("GET", question(chance))
                answer = connection.getresponse()
                answer.read()
            except OSError:
                errors.append(0)
                continue
            took.append(time.perf_counter() - began)
            if answer.status != 200:
                errors.append(answer.status)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took, len(errors)


def question(chance: random.Random) -> str:
    """What a reader asks next."""
    x = chance.choice(["model", "framework", "precision", "replica_batch", "server", "device"])
    y = chance.choice(["throughput", "batch_time_ms", "limit_share", "p99_ms"])
    group = chance.choice([g for g in ("precision", "framework", "phase") if g != x])
    filters = chance.choice(["", "&phase=training", "&model=resnet50,vgg16", f"&server={quote('node1,node2')}"])
    return f"/api/{chance.choice(['view', 'view', 'facets'])}?x={x}&y={y}&group={group}{filters}"

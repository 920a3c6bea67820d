"""What verbs take that ask a store of 100,000 records, and what it takes to take one of them away. Part of `make bench`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench_guide import fill

from steptime.core.schema import Case, Record
from steptime.store.files import Store
from steptime.store.parquet_index import TIMESTAMP_MARGIN_SECONDS, ParquetIndex

STEPTIME = Path(sys.executable).with_name("steptime")
RECORDS = 100_000
LIMITS = {
    "list_100000": (1.0, "at most"),
    "show_100000": (1.0, "at most"),
    "export_100000": (8.0, "at most"),
    "remove_of_100000": (1.0, "at most"),
    "dry_run_100000_more": (0.5, "at most"),
    "status_100000_more": (0.5, "at most"),
    "compare_100000_more": (0.5, "at most"),
}
SWEEP = ["run", "mlp", "--backend", "null", "--phase", "training", "--batch", "8,16", "--max-seconds", "0.2"]


def verbs_100000() -> Iterator[tuple[str, float, str]]:
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name))
        fill(store, RECORDS)
        extra = store.put(Record("extra", "crash", Case("mlp", "null", 8), "2026-01-01T00:00:00.000+00:00"))
        first = _seconds(store, ["list", "--last", "20"])
        time.sleep(TIMESTAMP_MARGIN_SECONDS)
        _seconds(store, ["list", "--last", "20"])
        filtered = ["list", "--last", "20", "--where", "model=gpt2"]
        words = f"s for the newest 20 of one model, median of 3; {first:.1f} s the first time, which makes the index"
        yield "list_100000", _median(store, filtered), words
        yield "show_100000", _median(store, ["show", "last"]), "s for one record of them"
        yield "export_100000", _median(store, ["export", os.devnull]), "s for all of them as CSV"
        index = ParquetIndex(store)
        index.refresh()
        extra.unlink()
        began = time.perf_counter()
        index.refresh()
        assert index.manifest.rows == RECORDS
        yield "remove_of_100000", time.perf_counter() - began, "s until the index is without a record that was taken away"


def sweeps_100000() -> Iterator[tuple[str, float, str]]:
    """What verbs take that answer for one sweep, or for a few runs, beside 100,000 records of others."""
    with tempfile.TemporaryDirectory() as name:
        large, small = Store(Path(name) / "large"), Store(Path(name) / "small")
        fill(large, RECORDS)
        for store in (large, small):
            for identity in ("one", "other"):
                store.put(Record(identity, "crash", Case("mlp", "null", 8), "2026-01-01T00:00:00.000+00:00"))
            _seconds(store, SWEEP)
            _seconds(store, ["compare", "one", "other"])
        time.sleep(TIMESTAMP_MARGIN_SECONDS)
        for verb, words in (
            ("dry_run", ["run", "resnet50,vgg16", "--backend", "pytorch", "--batch", "8,32", "--dry-run"]),
            ("status", ["status"]),
            ("compare", ["compare", "one", "other"]),
        ):
            pairs = [(_seconds(large, words), _seconds(small, words)) for _ in range(5)]
            much, little = (statistics.median(times) for times in zip(*pairs, strict=True))
            yield (
                f"{verb}_100000_more",
                much - little,
                f"s more than in a store of 4 records; {much:.2f} and {little:.2f} s, median of 5",
            )


def _median(store: Store, words: Sequence[str]) -> float:
    return statistics.median(_seconds(store, words) for _ in range(3))


def _seconds(store: Store, words: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run([STEPTIME, *words, "--store", store.root], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    for figure in (*verbs_100000(), *sweeps_100000()):
        print(*figure)

"""Ten million runs of fifty thousand configurations, and how long the guide takes to answer. Part of `make bench`.

The runs are made by the database itself, as segments of an index; a smaller batch file goes the whole way from
record lines to the index.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import msgspec

from steptime.core.schema import Case, Printed, Record, Software, Source
from steptime.guide.engine import Guide
from steptime.guide.view.view import View
from steptime.store import tables
from steptime.store.columns import TABLE, Column
from steptime.store.files import Store
from steptime.store.parquet_index import ParquetIndex

CONFIGURATIONS = 50_000
RUNS_OF_EACH = 200
SEGMENTS = 10
LINES = 160_000

MODELS = ("alexnet", "googlenet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "vgg11", "vgg16", "vgg19",
          "inception3", "inception4", "densenet121", "densenet169", "densenet201", "mobilenet", "nasnet", "squeezenet",
          "efficientnet_b0", "efficientnet_b4", "vit_b", "bert_base", "bert_large", "gpt2", "lstm")  # fmt: skip
FRAMEWORKS = ("PyTorch", "TensorFlow", "JAX", "MXNet", "Caffe")
PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
SAID = (
    "phase", "model", "framework", "framework_version", "backend", "software", "runtime", "precision", "data", "data_store",
    "server", "device", "device_type", "devices_per_node", "nodes", "interconnect", "replicas", "replica_batch",
    "effective_batch", "threads", "optimizer", "origin", "labels",
)  # fmt: skip
"""what the made-up runs say of their configuration"""
DEVICES = ("P100", "V100", "A100", "H100")


def _of(values: tuple[str, ...], place: str) -> str:
    return f"[{', '.join(map(tables.literal, values))}][{place} % {len(values)} + 1]"


def _segment_query(part: int) -> str:
    """A share of the runs of every configuration, as rows of a segment."""
    runs = RUNS_OF_EACH // SEGMENTS
    return f"""
        WITH c AS (
            SELECT i, {_of(MODELS, "i")} AS model, {_of(FRAMEWORKS, "(i // 25)")} AS framework,
                {_of(PRECISIONS, "(i // 125)")} AS precision, {_of(DEVICES, "(i // 500)")} AS device,
                (1 << (i // 2000) % 5)::INTEGER AS replicas, (8 << (i // 10000) % 5)::INTEGER AS replica_batch,
                exp(3 + 4 * random()) AS speed FROM range({CONFIGURATIONS}) t(i)),
        d AS (
            SELECT i, CASE WHEN i % 2 = 0 THEN 'training' ELSE 'inference' END AS phase, model, framework,
                '2.' || (i % 3) AS framework_version, lower(framework) AS backend, framework || ' 2.' || (i % 3) AS software,
                'bare metal' AS runtime, precision, 'synthetic' AS data, 'dram' AS data_store, 'node' || (i % 7) AS server,
                device, 'gpu' AS device_type, replicas AS devices_per_node, 1 AS nodes, '' AS interconnect, replicas,
                replica_batch,
                replicas * replica_batch AS effective_batch, 4 AS threads, 'sgd' AS optimizer, 'bench' AS origin,
                '{{}}' AS labels, speed FROM c),
        e AS ({_with_columns("SELECT * FROM d", SAID, [c for c in TABLE if c.configures])}),
        k AS (SELECT *, {tables.CONFIGURATION} AS config FROM e),
        r AS (SELECT k.*, j, speed * exp(0.1 * (random() - 0.5)) AS s, random() AS luck FROM k, range({runs}) u(j))
        SELECT 'r' || {part} || '-' || i || '-' || j AS id,
            CASE WHEN luck < 0.02 THEN 'out_of_memory' ELSE 'ok' END AS status,
            CASE WHEN luck > 0.97 THEN 'contended' ELSE 'clean' END AS verdict,
            strftime(TIMESTAMP '2026-01-01' + to_days(({part} * 30 + j)::INTEGER), '%Y-%m-%dT00:00:00.000+00:00') AS started,
            'sweep' || {part} AS sweep, '' AS message, 'records/2026/01/b.jsonl' AS file, 0::BIGINT AS byte_offset,
            'cuda' AS device_asked,
            * EXCLUDE (i, j, s, luck, speed),
            CASE WHEN luck >= 0.02 THEN effective_batch / s * 1e3 END AS batch_time_ms,
            CASE WHEN luck >= 0.02 THEN s END AS throughput,
            CASE WHEN luck >= 0.02 THEN s * 0.002 END AS uncertainty, CASE WHEN luck >= 0.02 THEN s * 0.01 END AS jitter,
            CASE WHEN luck >= 0.02 THEN s * 0.99 END AS ci_low, CASE WHEN luck >= 0.02 THEN s * 1.01 END AS ci_high,
            CASE WHEN luck >= 0.02 THEN effective_batch / s * 1e3 END AS p50_ms,
            CASE WHEN luck >= 0.02 THEN effective_batch / s * 1.1e3 END AS p90_ms,
            CASE WHEN luck >= 0.02 THEN effective_batch / s * 1.2e3 END AS p95_ms,
            CASE WHEN luck >= 0.02 THEN effective_batch / s * 1.3e3 END AS p99_ms,
            CASE WHEN luck >= 0.02 THEN 0.5::DOUBLE END AS limit_share,
            CASE WHEN luck >= 0.02 THEN (1e9 + effective_batch)::BIGINT END AS peak_bytes FROM r"""


def _with_columns(query: str, present: Collection[str], columns: Iterable[Column]) -> str:
    """Columns that say nothing here are empty."""
    missing = [f"NULL::{column.sql} AS {column.name}" for column in columns if column.name not in present]
    return f"SELECT {', '.join(['*', *missing])} FROM ({query})"


def _whole(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    present = {row[0] for row in connection.execute(f"DESCRIBE {query}").fetchall()}
    return _with_columns(query, present, TABLE)


def make_index(root: Path) -> ParquetIndex:
    index = ParquetIndex(Store(root))
    index.folder.mkdir(parents=True)
    connection = tables.connect()
    for part in range(SEGMENTS):
        tables.copy(connection, _whole(connection, _segment_query(part)), index.folder / f"made{part}.parquet")
        (index.folder / f"made{part}.files.json").write_text("[]")
    index.adopt({f"made{part}": CONFIGURATIONS * RUNS_OF_EACH // SEGMENTS for part in range(SEGMENTS)})
    return index


VIEWS = [
    View.of(x="model", group="precision", filters={"phase": "training"}),
    View.of(x="model", group="framework", filters={"precision": ["fp32", "fp16"], "device": "A100"}),
    View.of(x="replicas", y="batch_time_ms", group="model", filters={"framework": "PyTorch"}, agg="median"),
    View.of(x="device", group=["framework", "precision"], agg="mean", filters={"model": "resnet50"}),
    View.of(x="batch", scaling="strong", y="p99_ms", group="device"),
    View.of(x="server", group="software", y="peak_bytes", agg="max"),
    View.of(x="precision", facet="device", group="model", filters={"replicas": "1..4"}),
    View.of(x="model", series={"old": {"device": ["P100", "V100"]}, "new": {"device": ["A100", "H100"]}}),
]


def _times(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    for call in calls:
        call()
    found = []
    for _ in range(repeats):
        for call in calls:
            began = time.perf_counter()
            call()
            found.append(1e3 * (time.perf_counter() - began))
    return found


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def guide_scale() -> Iterator[tuple[str, float, str]]:
    with tempfile.TemporaryDirectory() as name:
        began = time.perf_counter()
        index = make_index(Path(name))
        made = time.perf_counter() - began
        guide = Guide(Store(Path(name)))
        guide.adopt(index)
        opened = time.perf_counter()
        guide.answer(VIEWS[0])
        first = time.perf_counter() - opened
        size = sum(path.stat().st_size for path in index.folder.iterdir()) / 1e6
        words = f"ms p95 of filter + group, {guide.size:,} runs, {size:.0f} MB made in {made:.0f} s, first {1e3 * first:.0f} ms"
        yield "guide_query_ms", p95(_times([lambda v=v: guide.answer(v) for v in VIEWS], 12)), words
        yield "guide_facets_ms", p95(_times([lambda v=v: guide.facets(v) for v in VIEWS[:4]], 10)), "ms p95 of all filter counts"
        write_batch(Store(Path(name)))
        before, began = index.manifest.rows, time.perf_counter()
        index.refresh()
        more = (index.manifest.rows - before) / (time.perf_counter() - began)
        yield "ingest_more_per_s", more, f"record lines per second into an index of {before:,} rows, {LINES:,} of them"
    yield "ingest_per_s", *_ingest()


def write_batch(store: Store) -> None:
    """A batch as imports write them."""
    case = Case("resnet50", "pytorch", 32)
    record = Record("x", "ok", case, "2026-01-01T00:00:00.000+00:00", software=Software("3.11", "", "PyTorch", "2.13", "1"),
                    origin="bench", printed=Printed(0.1, 320.0, 1.0, 2.0, 100), source=Source("bench", "log", 1, ""))  # fmt: skip
    encoder = msgspec.json.Encoder()
    folder = store.records_folder / "2026" / "01"
    folder.mkdir(parents=True)
    lines = (encoder.encode(replace(record, id=str(i), case=replace(case, seed=i % 100))) for i in range(LINES))
    (folder / "batch-0.jsonl").write_bytes(b"\n".join(lines) + b"\n")


def _ingest() -> tuple[float, str]:
    """From lines of a batch to segments and rollup; the best of five, since others use the machine."""
    best = 0.0
    for _ in range(5):
        with tempfile.TemporaryDirectory() as name:
            store = Store(Path(name))
            write_batch(store)
            index = ParquetIndex(store)
            began = time.perf_counter()
            index.refresh()
            best = max(best, index.manifest.rows / (time.perf_counter() - began))
    return best, f"record lines per second into the index, best of 5 times {LINES:,}"


if __name__ == "__main__":
    for figure in guide_scale():
        print(*figure)

"""llama.cpp's llama-bench: `-o json`, `-o jsonl` or `-o csv`. Tokens per second of reading a prompt or of generating text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.importing.source_file import Entry, File, Refused, number, whole_number
from steptime.importing.tables import Table, csv_table, json_lines, json_table

TOOL = "llama-bench"

MARKS = {"model_filename", "n_prompt", "n_gen", "avg_ts"}
VARIANTS = {
    "n_batch": "tokens_per_batch", "n_ubatch": "tokens_per_microbatch", "n_depth": "context_tokens", "n_gpu_layers": "gpu_layers",
    "type_k": "key_cache", "type_v": "value_cache", "flash_attn": "flash_attention", "split_mode": "split",
    "embeddings": "embeddings",
}  # fmt: skip
"""options that change the work, and our names for them"""


def looks_like(file: File) -> bool:
    if "avg_ts" not in file.head or "n_prompt" not in file.head:
        return False
    table = _table(file)
    return table is not None and set(table.columns) >= MARKS


def entries(file: File) -> Iterator[Entry]:
    table = _table(file)
    assert table
    for line, row in table.rows:
        yield _entry(line, row)


def _table(file: File) -> Table | None:
    return None if file.binary else json_table(file) or json_lines(file) or csv_table(file)


def _entry(line: int, row: Mapping[str, Any]) -> Entry:
    """Its seconds are those of a whole test, of many tokens, and not of a step: they are kept by that name."""
    speed, nanoseconds = number(row["avg_ts"]), number(row.get("avg_ns"))
    kept = row.get("samples_ts")
    samples = len(kept) if isinstance(kept, list) else 0
    spread = number(row.get("stddev_ts"))
    layers = whole_number(row.get("n_gpu_layers"))
    gpu = str(row.get("gpu_info") or "") if layers or row.get("n_gpu_layers") in (None, "") else ""
    if speed is None:
        raise Refused(f"avg_ts is '{row['avg_ts']}'", line)
    return Entry(
        line=line,
        model=str(row.get("model_type") or row["model_filename"]),
        framework="llama.cpp",
        version=str(row.get("build_number") or ""),
        phase="inference",
        devices=1,
        nodes=1,
        device=gpu.partition(",")[0] or str(row.get("cpu_info") or ""),
        device_kind="gpu" if gpu else "cpu",
        threads=whole_number(row.get("n_threads")),
        data="synthetic",
        started=str(row.get("test_time") or "").replace("Z", "+00:00"),
        speed=speed,
        uncertainty=spread / math.sqrt(samples) if spread is not None and samples else None,
        n=samples or None,
        others={"test_seconds": nanoseconds / 1e9} if nanoseconds else {},
        settings=_settings(row),
        raw={name: str(row.get(name) or "") for name in ("model_filename", "backends", "build_commit", "gpu_info")},
    )


def _settings(row: Mapping[str, Any]) -> dict[str, str]:
    prompt, generated = whole_number(row["n_prompt"]), whole_number(row["n_gen"])
    parts = ["prompt"] * bool(prompt) + ["generation"] * bool(generated)
    settings = {"unit": "tokens/s", "part": " and ".join(parts)}
    settings |= {"prompt_tokens": str(prompt or ""), "generated_tokens": str(generated or "")}
    return settings | {ours: str(row.get(theirs, "")).lower() for theirs, ours in VARIANTS.items() if row.get(theirs) is not None}

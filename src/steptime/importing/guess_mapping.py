"""A first mapping for a table that no importer knows: guesses by the names of its columns, each with a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from steptime.core.errors import UsageError
from steptime.importing.source_file import File, number
from steptime.importing.tables import Table, csv_table, json_lines, json_table

GUESSES = (
    (r"model|network|net|arch|architecture|modelname|modelid|name", "model"),
    (r"framework|backend|library", "framework"),
    (r"(?:framework|torch|pytorch|tf|tensorflow|jax)version|version", "framework_version"),
    (r"phase|mode|task", "phase"),
    (r"precision|dtype|datatype|amp", "precision"),
    (r"device|gpu|gpuname|gputype|accelerator|gpumodel|devicename|hardware|cpu", "device"),
    (r"server|host|hostname|node|machine|system", "server"),
    (r"optimizer", "optimizer"),
    (r"started|date|datetime|timestamp|time_?stamp|starttime", "started"),
    (r"globalbatch(?:size)?|effectivebatch(?:size)?|totalbatch(?:size)?", "effective_batch"),
    (r"batch|batchsize|bs|localbatch(?:size)?|perdevicebatch(?:size)?|replicabatch", "replica_batch"),
    (r"gpus|numgpus?|ngpus?|devices|numdevices|ndevices|worldsize|gpucount", "devices_per_node"),
    (r"nodes|numnodes|nnodes", "nodes"),
    (r"threads|numthreads|nthreads", "threads"),
    (r"steps|iterations|iters|numsteps", "steps"),
    (r"imagesize|imgsize|resolution|inputsize", "image_size"),
    (r"layout|memoryformat|dataformat", "layout"),
    (r"compile|compiler|compilemode", "compile"),
    (r"(?:avg|mean)?(?:throughput|fps|(?:images?|imgs?|samples|examples|tokens|tok|sequences|requests|req)(?:/|per)?(?:s|sec|second))",
     "throughput"),
    (r"(?:avg|mean)?(?:step|batch|iteration|iter)?(?:time|latency|duration)(?:in)?(?:ms|msec|milliseconds|s|sec|seconds|us)?|ms|seconds",
     "batch_time_ms"),
    (r"(?:peak|max)?(?:gpu|device)?mem(?:ory)?(?:usage|used|allocated)?(?:in)?(?:bytes|kb|mb|mib|gb|gib)?|peakbytes",
     "peak_bytes"),
)  # fmt: skip
"""words of a column's name, without spaces and underscores, and our column; the first column that fits gets it"""
SCALES = (
    ("batch_time_ms", r"(?:^|[^a-z])(?:us|usec|microseconds)(?:$|[^a-z])", 0.001),
    ("batch_time_ms", r"(?:^|[^a-z])(?:s|sec|secs|seconds?)(?:$|[^a-z])", 1000),
    ("peak_bytes", r"kb", 1e3), ("peak_bytes", r"mib", 1 << 20), ("peak_bytes", r"mb", 10**6), ("peak_bytes", r"gib", 1 << 30),
    ("peak_bytes", r"gb", 10**9),
)  # fmt: skip
MAX_COLUMNS = 200


def guess_mapping(file: File) -> str:
    """TOML that `--mapping` takes, to be read and mended by a person."""
    columns = dict(_columns(file))
    if not columns:
        raise UsageError(f"{file.path}: neither a CSV with names in its first line nor JSON; nothing to map")
    guesses = _guesses(columns)
    figures = {ours: theirs for ours, theirs in guesses.items() if ours in ("throughput", "batch_time_ms")}
    lines = ['tool = "my tool"    # what the column origin will say', "", "[columns]    # our column = theirs; all are guesses"]
    lines += [_line(ours, theirs, columns[theirs]) for ours, theirs in guesses.items()]
    lines += ["# not used; a label keeps a column as it is"]
    used = set(guesses.values())
    lines += [_line(f"# label.{_label_name(name)}", name, value) for name, value in columns.items() if name not in used]
    lines += ["", "[constants]    # what the table does not say; remove the # where one is right"]
    lines += [f"# {text}" for text in _constants(guesses)]
    lines += _scales(guesses)
    if not figures:
        lines += ["", "# no column looks like a speed or a time: set throughput (per second) or batch_time_ms (milliseconds)"]
    return "\n".join(lines) + "\n"


def _columns(file: File) -> Iterator[tuple[str, Any]]:
    """Names, `a.b` for nested ones, with the first value of each; those of the object around a list last."""
    table = json_table(file) or json_lines(file) or csv_table(file)
    if table is None and isinstance(file.json, dict):
        table = Table(list(file.json), [(1, file.json)])
    first: dict[str, Any] = {}
    around = file.json if isinstance(file.json, dict) else {}
    for row in [*(row for _, row in table.rows[:50]), around] if table else ():
        for name, value in _leaves(row):
            if value not in (None, "") and len(first) < MAX_COLUMNS:
                first.setdefault(name, value)
    yield from first.items()


def _leaves(row: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping) and depth < 5:
            yield from _leaves(value, f"{before}{name}.", depth + 1)
        elif not isinstance(value, (list, Mapping)):
            yield f"{before}{name}", value


def _guesses(columns: Mapping[str, Any]) -> dict[str, str]:
    """The whole name fits before its last part does: `gpu.name` is no model."""
    guesses: dict[str, str] = {}
    whole_names = {name: re.sub(r"[^a-z/]", "", name.lower()) for name in columns}
    last_parts = {name: re.sub(r"[^a-z/]", "", name.rpartition(".")[2].lower()) for name in columns}
    for words in (whole_names, last_parts):
        for pattern, ours in GUESSES:
            fitting = (name for name in columns if re.fullmatch(pattern, words[name]))
            theirs = next((name for name in fitting if name not in guesses.values() and _fits(ours, columns[name])), None)
            if theirs is not None:
                guesses.setdefault(ours, theirs)
    return guesses


def _fits(ours: str, value: Any) -> bool:
    figure = number(value)
    if ours in ("throughput", "batch_time_ms", "peak_bytes"):
        return figure is not None
    if ours in ("effective_batch", "replica_batch", "devices_per_node", "nodes", "threads", "steps"):
        return figure is not None and figure.is_integer()
    return ours != "model" or figure is None


def _line(ours: str, theirs: str, value: Any) -> str:
    return f"{ours} = {_quoted(theirs)}    # the first is {_quoted(str(value)[:40])}"


def _quoted(text: str) -> str:
    """JSON's strings are TOML's."""
    return json.dumps(text)


def _label_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "column"


def _constants(guesses: Mapping[str, str]) -> Iterator[str]:
    defaults = {"framework": "pytorch", "phase": "training", "precision": "fp32", "device": "RTX 3090", "model": "resnet50"}
    for ours, value in defaults.items():
        if ours not in guesses:
            yield f'{ours} = "{value}"'
    if "devices_per_node" not in guesses:
        yield "devices_per_node = 1"
    unit = re.search(r"(?i)tok|req", guesses.get("throughput", ""))
    if unit:
        yield f'unit = "{"tokens/s" if unit.group().lower() == "tok" else "requests/s"}"    # samples/s without it'


def _scales(guesses: Mapping[str, str]) -> list[str]:
    """By the unit in the name."""
    lines = []
    for ours in ("batch_time_ms", "peak_bytes"):
        name = guesses.get(ours, "").lower()
        factor = next((factor for column, unit, factor in SCALES if column == ours and re.search(unit, name)), None)
        if factor is not None:
            lines.append(f"{ours} = {factor:.12g}    # {_quoted(guesses[ours])} has another unit")
    return ["", "[scale]    # figures are multiplied by this", *lines] if lines else []

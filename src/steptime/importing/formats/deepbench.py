"""Baidu's DeepBench workbooks (.xlsx): matrix products, convolutions, recurrent layers and all-reduce, a line per shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.importing.source_file import Entry, File, Refused, first_group, number, whole_number
from steptime.importing.workbook import Row, is_workbook, sheets

TOOL = "DeepBench"

SECTIONS = (
    (r"dense matrix", "gemm"),
    (r"sparse matrix", "sparse_gemm"),
    (r"convolution", "conv2d"),
    (r"recurrent layers.*van", "rnn"),
    (r"recurrent layers.*lstm", "lstm"),
    (r"recurrent layers.*gru", "gru"),
    (r"all-?reduce", "all_reduce"),
)
LIBRARIES = {"cuda": "cuda version", "rocm": "rocm version", "mkl": "intel mkl version"}
"""of each vendor's stack, its line in the specifications"""
KINDS = {"gemm": "gemm", "sparse_gemm": "sparse", "conv2d": "conv", "rnn": "rnn", "lstm": "rnn", "gru": "rnn"}
"""what remarks on the precision call a section"""
PRECISION = r"(?i)(fp16|fp32|int8|mixed|float|single)"
REMARK = re.compile(r"([^:]{1,200}?)(?::| results are )(.*)")
"""on some sections: 'GEMM, Conv: Int8 multiplication', 'Convolution results are still in float'"""
BATCHED = ("conv2d", "rnn", "lstm", "gru")
MARGIN = 0.05


def looks_like(file: File) -> bool:
    return is_workbook(file.packed) and (
        "deepbench" in file.name.lower() or any(_is_ours(rows) for _, rows in sheets(file.packed))
    )


def _is_ours(rows: list[tuple[int, Row]]) -> bool:
    return any(row.get("A", "").startswith("Dense Matrix Mult") for _, row in rows)


def entries(file: File) -> Iterator[Entry]:
    all_sheets = list(sheets(file.packed))
    specs = {row.get("A", "").strip(): row.get("B", "") for name, rows in all_sheets if "spec" in name.lower() for _, row in rows}
    phase = "inference" if "inference" in file.path_text.lower() else "training" if "train" in file.path_text.lower() else ""
    for name, rows in all_sheets:
        if _is_ours(rows):
            yield from _sheet(name, rows, specs, phase)


def _sheet(name: str, rows: list[tuple[int, Row]], specs: dict[str, str], phase: str) -> Iterator[Entry]:
    section = ""
    header: dict[str, str] = {}
    remarks = _remarks(rows)
    for line, row in rows:
        title = _section(row.get("A", ""))
        if title:
            section, header = title, {}
        if section and not header and len(row) > 3 and number(row.get("C")) is None:
            header = {column: " ".join(text.lower().split()) for column, text in row.items() if column not in ("A", "B")}
        elif header and number(row.get("C")) is not None:
            named = {header[column]: text for column, text in row.items() if column in header}
            yield from _timed(section, line, named, _precision(section, name, remarks), specs, phase)


def _remarks(rows: list[tuple[int, Row]]) -> list[str]:
    """What stands beside and below 'Precision', before the first section."""
    first = next((place for place, (_, row) in enumerate(rows) if _section(row.get("A", ""))), 0)
    return [text for _, row in rows[:first] for column, text in row.items() if column != "A"]


def _precision(section: str, sheet: str, remarks: list[str]) -> str:
    """As a remark on this very section says; else as the name of the sheet and the first remark say."""
    for about, words in (remark.groups() for text in remarks if (remark := REMARK.match(text))):
        if section in KINDS and re.search(rf"\b{KINDS[section]}", about.lower()):
            return first_group(PRECISION, words)
    return first_group(PRECISION, " ".join([sheet, *remarks[:1]]))


def _section(title: str) -> str:
    return next((name for pattern, name in SECTIONS if re.match(pattern, title.lower())), "")


def _timed(section: str, line: int, row: dict[str, str], precision: str, specs: dict[str, str], phase: str) -> Iterator[Entry]:
    """What was not measured has no time, and makes no record."""
    times = {name: value for name, text in row.items() if _is_time(name) and (value := number(text)) is not None}
    forward = next((ms for name, ms in times.items() if "forward" in name or name in ("time (msec)", "sparse time (msec)")), None)
    mean = next((ms for name, ms in times.items() if "all reduce" in name), None)
    total = times.get("total time (msec)") or times.get("total time") or _sum(times)
    if section in ("gemm", "sparse_gemm", "all_reduce"):
        milliseconds = forward if mean is None else mean
        if milliseconds is not None:
            _check_flops(section, line, row, milliseconds)
            yield _entry(section, line, row, precision, specs, phase, milliseconds)
        return
    if forward is not None:
        yield _entry(section, line, row, precision, specs, "inference", forward)
    if total is not None and forward is not None and total > forward:
        yield _entry(section, line, row, precision, specs, "training", total)


def _is_time(name: str) -> bool:
    return ("msec" in name or "time" in name) and "timesteps" not in name and not name.startswith(("w (input", "std dev"))


def _sum(times: dict[str, float]) -> float | None:
    passes = [ms for name, ms in times.items() if "forward" in name or "backward" in name or name.startswith("wrt")]
    return sum(passes) if len(passes) > 1 else None


def _check_flops(section: str, line: int, row: dict[str, str], milliseconds: float) -> None:
    """The sheet says both time and rate of a product of m x k and k x n."""
    printed = number(row.get("teraflops")) or (number(row.get("gigaflops")) or 0.0) / 1e3
    if section != "gemm" or not printed or milliseconds <= 0:
        return
    m, n, k = (whole_number(row.get(name)) for name in ("m", "n", "k"))
    rate = 2 * m * n * k / milliseconds / 1e9
    if abs(rate - printed) > MARGIN * printed:
        raise Refused(f"2 x {m} x {n} x {k} / {milliseconds:g} ms = {rate:.4g} TFLOP/s, not {printed:.4g}", line)


def _entry(
    section: str, line: int, row: dict[str, str], precision: str, specs: dict[str, str], phase: str, milliseconds: float
) -> Entry:
    batch = whole_number(row.get("n (batch size)") or row.get("n")) if section in BATCHED else 0
    library, version = _library(specs)
    gpu, cpu = specs.get("GPU Model", ""), specs.get("CPU Model", "") or specs.get("CPU", "")
    devices, nodes = _machines(row) if section == "all_reduce" else (1, 1)
    return Entry(
        line=line,
        model=section,
        model_options=dict(_shape(row)),
        framework=library,
        version=version,
        phase=phase,
        precision=precision,
        batch=batch,
        devices=devices,
        nodes=nodes,
        device=gpu or cpu,
        device_kind="gpu" if gpu else "cpu",
        data="synthetic",
        seconds=milliseconds / 1e3,
        others={
            name.replace(" ", "_"): value for name, text in row.items() if "flops" in name and (value := number(text)) is not None
        },
        raw={key.lower(): value for key, value in specs.items() if value and value != "-"},
    )


def _machines(row: dict[str, str]) -> tuple[int, int]:
    """Devices of a node, and nodes: '# chips / accelerator cards', or '# nodes (1 process per node)'."""
    title, count = next(((name, whole_number(text)) for name, text in row.items() if name.startswith("#")), ("", 1))
    return (1, count) if "nodes" in title else (count, 1)


def _library(specs: dict[str, str]) -> tuple[str, str]:
    """DeepBench times the vendors' libraries; the sheet of specifications has their versions."""
    lower = {name.lower(): text for name, text in specs.items()}
    versions = ((name, first_group(r"(\d+(?:\.\d+)+)", lower.get(line, ""))) for name, line in LIBRARIES.items())
    return next(((name, version) for name, version in versions if version), ("", ""))


def _shape(row: dict[str, str]) -> Iterator[tuple[str, int | str]]:
    for name, text in row.items():
        if _is_time(name) or re.search(r"flops|gigabytes|algorithm|speedup|padded|source|^n \(|^[pq]$|^#|std dev", name):
            continue
        key = re.sub(r"[^a-z0-9]+", "_", re.sub(r"\(.*", "", name)).strip("_")
        value = whole_number(text)
        yield key or "size", value if value or text == "0" else text

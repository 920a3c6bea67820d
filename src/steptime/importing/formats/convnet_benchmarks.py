"""soumith/convnet-benchmarks: what its TensorFlow, Caffe, Torch7, neon and Theano scripts print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from steptime.core.schema import Status
from steptime.importing.formats import alexnet_benchmark
from steptime.importing.source_file import NUMBER, Entry, File, Refused, first_group, whole_number

TOOL = "convnet-benchmarks"

SUITE = {"alexnet": 128, "overfeat": 128, "vgg_a": 64, "googlenet": 128}
"""the suite's published inputs, in the order of its tables; some of its logs print neither model nor batch"""
NOT_PRINTED = "batch as the suite publishes it; the log does not print it"
BY_ORDER = "model and batch by the order of the suite's published tables; the log names neither"
NO_UPDATE = "forward and backward, without an update of the parameters"

CAFFE = re.compile(rf"\] Average (Forward pass|Forward-Backward): ({NUMBER}) ms")
CAFFE_NET = re.compile(r"^.{0,200}Initializing net from parameters", re.MULTILINE)
TORCH = re.compile(
    r"^ModelType:[ \t]*([^\n]{1,80}?)[ \t]{1,9}Kernels:[ \t]{0,9}(\S{1,40})[ \t]{1,9}"
    r"Input shape:[ \t]{0,9}(\d{1,9})x(\d{1,9}x\d{1,9}x\d{1,9})",
    re.MULTILINE,
)
TORCH_TIME = re.compile(rf"^\S+[ \t]*:(Forward|TOTAL):[ \t]*({NUMBER}|nan)", re.MULTILINE)
NEON = re.compile(r"^\|[ \t]*(fprop|iteration)[ \t]*\|([^\n]*)\|[ \t]*msec[ \t]*\|", re.MULTILINE)
THEANO = re.compile(
    r"^CONFIG: input = (\d{1,9}) x (\d{1,9}) x (\d{1,9}) \* ker = \d{1,9} x (\d{1,9}) x (\d{1,9}) x (\d{1,9}) "
    r"\( bs = (\d{1,9}) , stride = (\d{1,9}) \)",
    re.MULTILINE,
)
THEANO_TIME = re.compile(
    rf"^([^\n>]{{1,120}}?)[ \t]{{1,80}}==> (fprop|bprop inputs|bprop weights)[ \t]+==>[ \t]+({NUMBER})", re.MULTILINE
)
THEANO_FAILED = re.compile(r"^(\S+) fprop: FAILED ([^\n]*)", re.MULTILINE)


def looks_like(file: File) -> bool:
    """Words before patterns, which are slower: most files belong to other importers."""
    text = file.text
    return bool(
        "*** Benchmark ends ***" in text[-2000:]
        or ("ModelType:" in text and TORCH.search(file.head))
        or ("|    Func     |" in text and NEON.search(file.head))
        or ("CONFIG: input" in text and THEANO.search(file.head))
        or ("sec / batch" in text and alexnet_benchmark.RESULT.search(text) and not alexnet_benchmark.LAYER.search(file.head))
    )


def entries(file: File) -> Iterator[Entry]:
    for pattern, reader in ((CAFFE, _caffe), (TORCH, _torch), (NEON, _neon), (THEANO, _theano)):
        if pattern.search(file.text):
            yield from reader(file)
            return
    if not alexnet_benchmark.RESULT.search(file.text):
        raise Refused("the log has no results")
    named = first_group(r"(alexnet|overfeat|vgg_?a|googlenet)", file.name.lower()).replace("vgga", "vgg_a")
    notes = (NOT_PRINTED,) if named else ()
    yield from alexnet_benchmark.passes(file, model=named, batch=SUITE.get(named, 0), notes=notes)


def _pass(line: int, training: bool, seconds: float, notes: tuple[str, ...] = (), **words: Any) -> Entry:
    return Entry(
        line=line,
        phase="training" if training else "inference",
        seconds=seconds,
        devices=1,
        nodes=1,
        data="synthetic",
        notes=[*([NO_UPDATE] if training else []), *notes],
        **words,
    )


def _caffe(file: File) -> Iterator[Entry]:
    """Several nets may follow one another; each begins by printing its parameters, with the batch as its first dimension."""
    starts = [match.start() for match in CAFFE_NET.finditer(file.text)] or [0]
    kind = "gpu" if "Use GPU with device ID" in file.head else "cpu" if "Use CPU" in file.head else ""
    when = re.match(r"[IWEF](\d\d)(\d\d) ", file.head)
    raw = {"logged": f"month {when.group(1)}, day {when.group(2)}, no year"} if when else {}
    for start, end in zip(starts, [*starts[1:], len(file.text)], strict=True):
        net = file.text[start:end]
        for match in CAFFE.finditer(net):
            yield _pass(
                file.line_of(start + match.start()),
                match.group(1) != "Forward pass",
                float(match.group(2)) / 1e3,
                model=first_group(r'^name: "([^"]+)"', net),
                framework="caffe",
                batch=whole_number(first_group(r"^[ \t]*(?:input_dim|dim): (\d+)", net)),
                device_kind=kind,
                settings=_caffe_settings(file, net),
                raw=raw,
            )


def _caffe_settings(file: File, net: str) -> dict[str, str]:
    """Only the folder names the fork; the net's parameters say whether gradients of the input are computed."""
    return {
        "image_size": _image_size(re.findall(r"^[ \t]*(?:input_dim|dim): (\d+)", net, re.MULTILINE)[:4]),
        "fork": first_group(r"(?:^|[-_/])(greentea|intel|nvidia)(?=[-_/])", file.path_text.lower()),
        "input_gradient": first_group(r"^force_backward: (true)", net),
    }


def _torch(file: File) -> Iterator[Entry]:
    device = first_group(r"^Running on device: ([^\n\t]+)", file.head).strip()
    heads = list(TORCH.finditer(file.text))
    for head, end in zip(heads, [*(h.start() for h in heads[1:]), len(file.text)], strict=True):
        model, kernels, batch, shape = head.groups()
        for match in TORCH_TIME.finditer(file.text, head.end(), end):
            yield _pass(
                file.line_of(match.start()),
                match.group(1) == "TOTAL",
                float(match.group(2)) / 1e3,
                model=model,
                framework="torch7",
                precision=first_group(r"(fp16|fp32)", file.name),
                batch=int(batch),
                device=device,
                device_kind="gpu" if device else "",
                settings={"kernels": kernels, "image_size": _image_size(shape.split("x"))},
                raw={"kernels": kernels, "input": shape},
            )


def _image_size(dimensions: list[str]) -> str:
    """Of channels, height and width: one figure where the image is square."""
    sides = dimensions[-2:] if len(dimensions) > 2 else []
    return "x".join(sides if len(set(sides)) > 1 else sides[:1])


def _neon(file: File) -> Iterator[Entry]:
    """Its tables have no names. Where there are as many as the suite has models, they are in the suite's order."""
    lines = list(NEON.finditer(file.text))
    tables = sum(1 for line in lines if line.group(1) == "iteration")
    names = list(SUITE) if tables == len(SUITE) else [""] * tables
    table = 0
    for line in lines:
        mean, median, low, high = (float(cell) / 1e3 for cell in line.group(2).split("|"))
        training = line.group(1) == "iteration"
        yield _pass(
            file.line_of(line.start()),
            training,
            mean,
            model=names[min(table, tables - 1)] if names else "",
            framework="neon",
            precision=first_group(r"(fp16|fp32)", file.name),
            batch=SUITE.get(names[min(table, tables - 1)], 0) if names else 0,
            percentiles={50: median},
            min_seconds=low,
            max_seconds=high,
            notes=(BY_ORDER,) if names[0] else (),
        )
        table += training


def _theano(file: File) -> Iterator[Entry]:
    """Single convolutions: forward, and all three passes together where all were timed."""
    device = first_group(r"^Using gpu device \d+: ([^\n]+)", file.head)
    heads = list(THEANO.finditer(file.text))
    for head, end in zip(heads, [*(h.start() for h in heads[1:]), len(file.text)], strict=True):
        channels, height, width, filters, kernel_h, kernel_w, batch, stride = map(int, head.groups())
        options = {
            "channels": channels,
            "image": f"{height}x{width}",
            "filters": filters,
            "kernel": f"{kernel_h}x{kernel_w}",
            "stride": stride,
        }
        words: dict[str, Any] = {
            "model": "conv2d",
            "model_options": options,
            "framework": "theano",
            "batch": batch,
            "device": device,
            "device_kind": "gpu",
        }
        times: dict[str, dict[str, tuple[int, float]]] = {}
        for match in THEANO_TIME.finditer(file.text, head.end(), end):
            which, name, milliseconds = match.groups()
            times.setdefault(which.strip(), {})[name] = (file.line_of(match.start()), float(milliseconds) / 1e3)
        for which, passes in times.items():
            words |= {"settings": {"kernels": which}, "raw": {"implementation": which}}
            if "fprop" in passes:
                yield _pass(passes["fprop"][0], False, passes["fprop"][1], **words)
            if len(passes) == 3:
                yield _pass(passes["bprop weights"][0], True, sum(seconds for _, seconds in passes.values()), **words)
        for match in THEANO_FAILED.finditer(file.text, head.end(), end):
            yield Entry(
                line=file.line_of(match.start()),
                phase="inference",
                status=Status.UNSUPPORTED,
                message=match.group(2)[:300],
                devices=1,
                nodes=1,
                **words | {"settings": {"kernels": match.group(1)}, "raw": {"implementation": match.group(1)}},
            )

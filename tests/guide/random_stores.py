"""Stores and views at random, from few enough values that runs repeat, tie and differ in every way."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from steptime.core.schema import Accelerator, Allocation, Case, Printed, Record, Software, Source
from steptime.guide.view.view import View
from tests.guide.conftest import MACHINE, run

STATUSES = ("ok", "ok", "ok", "ok", "ok", "ok", "out_of_memory", "crash")
LABELS = ({}, {"gpu": "k80"}, {"gpu": "p100"}, {'a"b': "x"})
VERDICTS = ("clean", "clean", "clean", "noisy", "contended")


def records(chance: random.Random, most: int = 40) -> list[Record]:
    made = [_imported(chance) if chance.random() < 0.3 else _own(chance) for _ in range(chance.randint(1, most))]
    return [replace(record, id=f"r{number:04d}") for number, record in enumerate(made)]


def _own(chance: random.Random) -> Record:
    status = chance.choice(STATUSES)
    speed = _speed(chance) if status == "ok" else None
    record = run(
        speed,
        status,
        chance.choice(VERDICTS),
        version=chance.choice(("2.0", "2.1")),
        day=chance.randint(1, 3),
        **_case(chance),
        backend=chance.choice(("pytorch", "jax")),
        threads=chance.choice((1, 2)),
        labels={**chance.choice(LABELS), **chance.choice(({}, {}, {"price_per_hour": "3"}))},
    )
    if record.summary:
        record = replace(record, summary=replace(record.summary, **chance.choice(({}, {}, _ends(speed, chance)))))
    gpu = chance.random() < 0.4
    machine = replace(MACHINE, host=chance.choice(("node1", "node2")), accelerators=[Accelerator("Tesla K80")] if gpu else [])
    record = replace(record, machine=machine, case=replace(record.case, device="cuda" if gpu else "cpu"))
    allocated = Allocation("site", "1", chance.choice(("a", "b")), ran_on=record.case.device)
    return replace(record, allocation=allocated) if chance.random() < 0.2 else record


def _ends(speed: float | None, chance: random.Random) -> dict[str, float]:
    """Ends that hold the value, and some that do not."""
    assert speed is not None
    low, high = chance.choice(((0.5, 2.0), (0.9, 0.95), (1.0, 1.0), (1.1, 1.2)))
    return {"ci_low": speed * low, "ci_high": speed * high}


def _imported(chance: random.Random) -> Record:
    """A record that another tool left: no steps, no interval, and much that is not said."""
    what = _case(chance)
    case = Case(**{**what, "batch": chance.choice((0, what["batch"]))}, backend="tensorflow", threads=0, device="cuda")
    source = Source(
        "tool", "file", 1, "0" * 64, server=chance.choice(("", "dgx")), device=chance.choice(("A100", "Tesla K80")),
        interconnect=chance.choice(("", "NVLink")) if case.replicas > 1 else "",
        settings=chance.choice(({}, {}, {"unit": "tokens/s"}, {"image_size": "160"}, {"part": "forward"})),
    )  # fmt: skip
    status = chance.choice(STATUSES)
    printed = Printed(mean_speed=chance.choice((None, _speed(chance))), mean_seconds=chance.choice((None, 0.25)))
    return Record(
        "", status, case, f"2026-01-0{chance.randint(1, 3)}T00:00:00.000+00:00",
        origin="tool", printed=printed if status == "ok" else None, source=source,
        software=Software("", "", "TensorFlow", "1.10", ""),
    )  # fmt: skip


def _case(chance: random.Random) -> dict[str, Any]:
    return {
        "model": chance.choice(("resnet50", "vgg16", "gpt2")),
        "batch": chance.choice((8, 16, 32)),
        "phase": chance.choice(("training", "training", "inference")),
        "precision": chance.choice(("fp32", "fp16")),
        "devices": chance.choice((1, 1, 2, 4)),
        "nodes": chance.choice((1, 1, 1, 2)),
    }


def _speed(chance: random.Random) -> float:
    """Often one of a few, so that values tie."""
    return chance.choice((100.0, 200.0, 400.0, chance.lognormvariate(5, 1)))


def view(chance: random.Random) -> View:
    names = ["model", "phase", "framework", "precision", "device", "replicas", "batch", "server", "date", "label.gpu", "system"]
    x, *others = chance.sample(names, 4)
    filters = {name: value for name, value in _FILTERS if chance.random() < 0.15 and name != x}
    made = View.of(
        filters,
        x=x,
        y=chance.choice(("throughput",) * 4 + ("batch_time_ms", "speedup", "efficiency", "cost_per_million", "p95_ms")),
        group=others[: chance.choice((0, 1, 1, 2))],
        facet=chance.choice(("", "", others[2])),
        agg=chance.choice(("best", "best", "best", "min", "max", "mean", "median")),
        scaling=chance.choice(("weak", "strong")),
        contended=chance.random() < 0.2,
    )
    return made.but(kind="scaling", x="replicas", y="throughput", facet="") if chance.random() < 0.25 else made


_FILTERS = (
    ("phase", "training"), ("model", ["resnet50", "gpt2"]), ("precision", "fp16"), ("replicas", "1..2"), ("label.gpu", "k80"),
    ("server", "node1"), ("replica_batch", [8, 16]),
)  # fmt: skip

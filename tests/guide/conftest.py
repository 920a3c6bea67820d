"""A small store of made-up runs, in which every figure is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from steptime.core.schema import Case, Contention, Cost, Machine, Printed, Record, Resources, Software, Summary
from steptime.guide.engine import Guide
from steptime.store.files import Store

MACHINE = Machine("m", "node1", "Fast CPU", 1, 8, 8, 8.0, 1 << 34, 1 << 34, "Linux", "6.1", "x86_64")
COUNT = iter(range(10**9))


def run(speed: float | None, status: str = "ok", verdict: str = "clean", version: str = "2.0", day: int = 1, **case) -> Record:
    """One run: its speed, how it ended, and what else differs."""
    case = {"model": "resnet50", "backend": "pytorch", "batch": 32, **case}
    made = Case(**case)
    number = next(COUNT)
    summary = None
    if speed is not None:
        seconds = made.effective_batch / speed
        summary = Summary(
            100,
            made.effective_batch,
            seconds,
            speed,
            speed * 0.001,
            speed * 0.01,
            0.95,
            speed * 0.98,
            speed * 1.02,
            "",
            *[seconds] * 6,
        )
    return Record(
        id=f"run{number:06d}",
        status=status,
        case=made,
        started=f"2026-01-{day:02d}T00:00:00.000+00:00",
        summary=summary,
        cost=Cost(1, 4, 4, 100.0, 1.0, 2.0, 0.5) if summary else None,
        resources=Resources(1000, None, 1.0, 1.0, 0.1, 0.1, None) if summary else None,
        contention=Contention(verdict, "", 1.0, 1.0, 0.1, 0) if summary else None,
        software=Software("3.11", "/p", {"pytorch": "PyTorch", "jax": "JAX"}[made.backend], version, "0"),
        machine=MACHINE,
    )


def without_interval(record: Record) -> Record:
    """The same figure as another tool prints it."""
    assert record.summary
    return replace(record, summary=None, printed=Printed(mean_speed=record.summary.mean_speed))


@pytest.fixture
def store(tmp_path) -> Store:
    made = Store(tmp_path / "results")
    made.prepare()
    return made


@pytest.fixture
def guide_of(store):
    """A guide over the given runs."""

    def make(*records: Record) -> Guide:
        store.put_all(records)
        guide = Guide(store)
        guide.refresh()
        return guide

    return make


@pytest.fixture
def results(store) -> Path:
    """The folder of a store with a bit of everything."""
    store.put_all(everything())
    return store.root


def everything() -> list[Record]:
    found = []
    for model, scale in (("alexnet", 8.0), ("resnet50", 1.0), ("vgg16", 0.6)):
        for precision, gain in (("fp32", 1.0), ("fp16", 1.8)):
            for backend, factor in (("pytorch", 1.0), ("jax", 1.1)):
                for repeat in range(3):
                    speed = 100 * scale * gain * factor * (1 + 0.01 * repeat)
                    found.append(run(speed, model=model, precision=precision, backend=backend, day=repeat + 1))
    for devices in (1, 2, 4, 8):
        found.append(run(90 * devices**0.9, model="gpt2", devices=devices))
    found.append(run(None, "out_of_memory", model="vgg16", precision="fp64"))
    found.append(run(None, "unsupported", model="resnet50", precision="int8", backend="jax"))
    found.append(run(10.0, verdict="contended", model="alexnet", precision="fp32"))
    return found

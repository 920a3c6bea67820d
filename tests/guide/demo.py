"""A store of made-up but possible results: two machines, three frameworks, scaling, failures, disturbed runs, hostile names."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from steptime.core.schema import (
    Accelerator,
    Case,
    Contention,
    Cost,
    Failure,
    Machine,
    Record,
    Resources,
    Software,
    Steps,
)
from steptime.core.stats.summary import summarise
from steptime.store.files import Store

SPEEDS = {"alexnet": 2600.0, "googlenet": 950.0, "resnet50": 340.0, "vgg16": 210.0}
FRAMEWORKS = {"pytorch": ("2.13.0", 1.0), "tensorflow": ("2.21.0", 0.93), "jax": ("0.10.2", 0.88)}
PRECISIONS = {"fp32": 1.0, "fp16": 1.75, "int8": 2.3}
HOSTILE = "<script>alert(1)</script>"


def machine(host: str, gpu: str) -> Machine:
    gpus = [Accelerator(gpu, 32 << 30, "550.54")] * 8
    return Machine(
        host, host, "Xeon Gold 6230", 2, 40, 80, 80.0, 384 << 30, 384 << 30, "Debian 12", "6.1.0", "x86_64", accelerators=gpus
    )


MACHINES = {"v100-node": (machine("v100-node", "Tesla V100"), 1.0), "p100-node": (machine("p100-node", "Tesla P100"), 0.55)}


def record(
    name: str,
    case: Case,
    speed: float,
    host: str = "v100-node",
    version: str = "2.13.0",
    verdict: str = "clean",
    day: int = 1,
    seed: int = 0,
) -> Record:
    """A measured run of `speed` samples/s: steps with warm-up, the summary by steptime's own rule."""
    chance = random.Random(f"{name}{seed}")
    seconds = case.effective_batch / speed
    steps = [seconds * (2.5 if i == 0 else 1.3 if i < 3 else 1) * chance.lognormvariate(0, 0.03) for i in range(60)]
    summary = summarise(steps[3:], case.effective_batch)
    flops = 1.2e9 * case.effective_batch
    return Record(
        name,
        "ok",
        case,
        f"2026-11-{day:02d}T10:{seed % 60:02d}:00.000+00:00",
        sweep="",
        steps=Steps(steps, 3, "mser", "target"),
        summary=summary,
        cost=Cost(
            25_000_000, 100_000_000, 900_000_000, flops, flops / summary.mean_seconds, 14e12, flops / summary.mean_seconds / 14e12
        ),
        contention=Contention(
            verdict, "others used 3.1 cores" if verdict == "contended" else "nothing else of note ran", 10.0, 9.0, 0.1, 12
        ),
        resources=Resources(int(2e9 + 1e7 * case.batch), None, 2.0, 1.2, 0.3, steps[0], None),
        software=Software(
            "3.11.7", "/opt/python", case.backend, version, "0.1.0", threads=case.threads, precision=case.precision
        ),
        machine=MACHINES[host][0],
    )


def failure(name: str, case: Case, status: str, message: str, host: str = "p100-node") -> Record:
    return Record(
        name, status, case, "2026-11-03T12:00:00.000+00:00", message, failure=Failure(1, "", message), machine=MACHINES[host][0]
    )


def records() -> Iterator[Record]:
    number = 0

    def name() -> str:
        nonlocal number
        number += 1
        return f"20261101-100000-{number:08x}"

    for host, (_, power) in MACHINES.items():
        for model, speed in SPEEDS.items():
            for framework, (version, skill) in FRAMEWORKS.items():
                for precision, gain in PRECISIONS.items():
                    for phase, factor in (("training", 1.0), ("inference", 2.9)):
                        if precision == "int8" and phase == "training":
                            continue
                        case = Case(
                            model,
                            framework,
                            64,
                            phase,
                            precision,
                            "cuda",
                            threads=8,
                            labels={"price_per_hour": "3.2" if power == 1 else "1.4"},
                        )
                        if host == "p100-node" and precision == "int8":
                            yield failure(name(), case, "unsupported", "Tesla P100 has no int8 kernels")
                        elif model == "vgg16" and framework == "jax" and phase == "training":
                            yield failure(name(), case, "out_of_memory", "17.2 GB were asked for, 16 GB are there", host)
                        else:
                            for repeat in range(2):
                                yield record(
                                    name(),
                                    case,
                                    speed * power * skill * gain * factor,
                                    host,
                                    version,
                                    day=1 + repeat,
                                    seed=number,
                                )
    for model in ("alexnet", "resnet50"):
        for devices in (1, 2, 4, 8):
            for framework, (version, skill) in FRAMEWORKS.items():
                if framework == "jax" and devices == 1:
                    continue
                case = Case(model, framework, 128, "training", "fp16", "cuda", devices=devices, threads=8)
                efficiency = 1 - 0.035 * (devices - 1) * (1.8 if model == "alexnet" else 1)
                yield record(
                    name(), case, SPEEDS[model] * 1.9 * skill * devices * efficiency, version=version, day=4, seed=number
                )
    disturbed = Case("resnet50", "pytorch", 32, "training", "fp32", "cuda", threads=8)
    yield record(name(), disturbed, 140.0, verdict="contended", day=5, seed=number)
    yield record(
        name(), Case(HOSTILE, "pytorch", 8, "inference", "fp32", "cuda", labels={"note": HOSTILE}), 55.0, day=6, seed=number
    )


def fill(folder: Path) -> Store:
    store = Store(folder)
    for each in records():
        store.put(each)
    return store

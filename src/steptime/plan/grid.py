"""Comma lists make a grid: the product of all axes, every case checked before any is run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from steptime.backends.base import check_options, find, names
from steptime.errors import UnknownName, UsageError
from steptime.machine.cpus import usable_threads
from steptime.models import zoo
from steptime.schema import OPTIMIZERS, PHASES, PRECISIONS, Budget, Case, Option, option_value, to_json

LARGEST_BATCH = 2**31 - 1
DEFAULT_SUITE = ("mnist_cnn", "alexnet_conv", "resnet50")
DEVICES = ("cpu", "cuda")
DATA = ("synthetic",)


@dataclass(frozen=True)
class Grid:
    """Axes as the user gave them; empty means the default."""

    models: Sequence[str] = ()
    backends: Sequence[str] = ()
    phases: Sequence[str] = ()
    batches: Sequence[int] = ()
    precisions: Sequence[str] = ()
    threads: Sequence[int] = ()
    optimizers: Sequence[str] = ()
    device: str = "cpu"
    data: str = "synthetic"
    learning_rate: float | None = None
    seed: int = 1
    repeats: int = 1
    model_options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    backend_options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    labels: Mapping[str, str] = field(default_factory=dict)


def cases_of(grid: Grid) -> list[Case]:
    """In the order of the axes; repeats outermost, so that drift of the machine does not fall on one case."""
    _check_names(grid)
    axes = itertools.product(
        range(grid.repeats),
        grid.models or DEFAULT_SUITE,
        grid.backends or ("pytorch",),
        grid.phases or PHASES,
        grid.precisions or ("fp32",),
        grid.batches or (0,),
        grid.threads or (usable_threads(),),
        grid.optimizers or ("sgd",),
        _option_sets(grid.model_options),
        _option_sets(grid.backend_options),
    )
    cases = [_case(grid, *values) for values in axes]
    if len(set(map(to_json, cases))) != len(cases):
        raise UsageError("the same case is asked for twice; for repeats of a case use --repeats N")
    return cases


def _case(
    grid: Grid,
    repeat: int,
    model: str,
    backend: str,
    phase: str,
    precision: str,
    batch: int,
    threads: int,
    optimizer: str,
    model_texts: dict[str, str],
    backend_texts: dict[str, str],
) -> Case:
    entry = zoo.find(model)
    model_options = _typed(model_texts, entry.options)
    backend_options = _typed(backend_texts, find(backend).options)
    zoo.build(model, model_options)
    check_options(find(backend), backend_options)
    return Case(
        model=model,
        backend=backend,
        batch=batch or entry.batch,
        phase=phase,
        precision=precision,
        device=grid.device,
        threads=threads,
        optimizer=optimizer if phase == "training" else "none",
        learning_rate=entry.learning_rate if grid.learning_rate is None else grid.learning_rate,
        data=grid.data,
        seed=grid.seed,
        repeat=repeat,
        model_options=model_options,
        backend_options=backend_options,
        budget=grid.budget,
        labels=dict(grid.labels),
    )


def _check_names(grid: Grid) -> None:
    for what, asked, known in (
        ("model", grid.models, list(zoo.models())),
        ("backend", grid.backends, names()),
        ("phase", grid.phases, PHASES),
        ("precision", grid.precisions, PRECISIONS),
        ("optimizer", grid.optimizers, OPTIMIZERS),
        ("device", [grid.device], DEVICES),
        ("data", [grid.data], DATA),
    ):
        for name in asked:
            if name not in known:
                raise UnknownName(what, name, known)
    for what, numbers, most in (
        ("batch", grid.batches, LARGEST_BATCH),
        ("threads", grid.threads, 4096),
        ("repeats", [grid.repeats], 10**6),
    ):
        for number in numbers:
            if not 1 <= number <= most:
                raise UsageError(f"{what} must be from 1 to {most}, got {number}")
    budget = grid.budget
    if not 0 < budget.target < 1 or budget.max_seconds <= 0 or budget.limit_seconds <= 0 or budget.max_steps < 1:
        raise UsageError("the target is a share between 0 and 1; seconds and steps are positive")


def _typed(texts: Mapping[str, str], defaults: Mapping[str, object]) -> dict[str, Option]:
    return {key: option_value(text, defaults.get(key)) for key, text in texts.items()}


def _option_sets(options: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(options, values, strict=True)) for values in itertools.product(*options.values())]

"""Prints, one pair per line: mean step that steptime measures / mean step of a loop written by hand; and what steptime did
beside the steps (counters, the stopping rule) as a share of their time.

Both run the same network on the same batch in one process; blocks alternate and each goes first in half of the pairs, so
that whatever else the machine does falls on both alike. Where code and arrays come to lie makes a per cent or two either
way for as long as a program lives, so small ones are built several times.
"""

import time
from collections.abc import Callable

from steptime.core.backends.base import Array, Program, Weights, find
from steptime.core.models import zoo
from steptime.core.models.weights import batch_of, initial_weights
from steptime.core.schema import Budget, Case
from steptime.core.worker.loop import run_steps

PAIRS, WARM_UP_PAIRS = 12, 2
PAIR_SECONDS = 0.6
"""of each side, unless two steps take longer"""
BATCHES = {"mnist_cnn": 50, "resnet50": 8, "resnet50_v1": 8}
BUILT = {"mnist_cnn": 4}
Step = Callable[[], object]


def against_hand(backend_name: str, model: str, phase: str, by_hand: Callable[[Weights, Array, Array], Step]) -> None:
    """`by_hand`: from weights, inputs and labels to a function that takes one step and returns when it has ended."""
    case = Case(model, backend_name, BATCHES[model], phase, threads=1)
    backend = find(backend_name)
    backend.start(case)
    graph = zoo.build(model, {})
    (inputs, labels), weights = batch_of(graph, case.batch, 1), initial_weights(graph, 1)
    times = BUILT.get(model, 1)
    for _ in range(times):
        program = backend.build(graph, case, weights, inputs, labels)
        _compare(program, by_hand(weights, inputs, labels), PAIRS // times)


def _compare(program: Program, step: Step, pairs: int) -> None:
    step()
    steps = max(2, round(PAIR_SECONDS / min(_bare(step, 1) for _ in range(3))))
    budget = Budget(max_steps=steps, min_steps=10**9, max_seconds=1e9)
    for pair in range(-WARM_UP_PAIRS, pairs):
        before = _bare(step, steps) if pair % 2 else 0.0
        began = time.perf_counter()
        ours = sum(run_steps(program, budget, lambda seconds: None).seconds)
        beside = time.perf_counter() - began - ours
        bare = before or _bare(step, steps)
        if pair >= 0:
            print(ours / bare, beside / ours, flush=True)


def _bare(step: Step, steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps):
        step()
    return time.perf_counter() - began

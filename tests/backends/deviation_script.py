"""Run by an interpreter with a framework: how far it is from the reference, as JSON on the last line of stdout.

Arguments: BACKEND PRECISION STEPS OPTIMIZER MODEL.. (names of tests/models/reduced.py, or `all`). STEPS 0 is inference.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from reduced import LEARNING_RATES, REDUCED, model_of

from steptime.backends.base import Program, find
from steptime.errors import Unsupported
from steptime.models import zoo
from steptime.models.graph import Graph
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Case

BATCH = 3


def program(graph: Graph, case: Case) -> Program:
    backend = find(case.backend)
    backend.check(case)
    inputs, labels = batch_of(graph, case.batch, case.seed)
    return backend.build(graph, case, initial_weights(graph, case.seed), inputs, labels)


def distance(truth: np.ndarray, found: np.ndarray) -> float:
    """Largest difference, relative to the largest value."""
    assert truth.shape == found.shape, f"{found.shape} instead of {truth.shape}"
    return float(np.abs(truth - found).max() / np.abs(truth).max())


def trained_distance(graph: Graph, truth: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> float:
    """Of each array's change by training; changes that are zero but for rounding are measured by the largest of all."""
    begin = initial_weights(graph, 1)
    assert truth.keys() == found.keys() == begin.keys()
    moved = {k: np.abs(truth[k] - begin[k]).max() for k in truth}
    floor = 1e-3 * max(moved.values()) or 1.0
    return float(max(np.abs(truth[k] - found[k]).max() / max(moved[k], floor) for k in truth))


def compare(backend: str, precision: str, steps: int, optimizer: str, name: str) -> dict[str, float]:
    graph = zoo.build(model_of(name), REDUCED[name]).without_dropout()
    phase = "training" if steps else "inference"
    rate = LEARNING_RATES.get(name, 0.01 if optimizer == "sgd" else 1e-3)
    case = Case(graph.name, backend, BATCH, phase, precision, optimizer=optimizer, learning_rate=rate)
    truth = program(graph, replace(case, backend="reference", precision="fp64"))
    theirs = program(graph, case)
    result = {"outputs": distance(truth.outputs(), theirs.outputs())}
    for _ in range(steps):
        for each in (truth, theirs):
            each.step()
            each.wait()
    if steps:
        result["loss"] = abs(float(theirs.loss() or 0) / float(truth.loss() or 0) - 1)
        result["weights"] = trained_distance(graph, truth.weights(), theirs.weights())
        result["outputs_after"] = distance(truth.outputs(), theirs.outputs())
    return result


def main(backend: str, precision: str, steps: str, optimizer: str, *names: str) -> None:
    phase = "training" if int(steps) else "inference"
    find(backend).start(Case("mlp", backend, BATCH, phase, precision))
    results: dict[str, dict[str, float] | str] = {}
    for name in REDUCED if names == ("all",) else names:
        begin = time.perf_counter()
        try:
            results[name] = compare(backend, precision, int(steps), optimizer, name)
        except Unsupported as reason:
            results[name] = str(reason)
        print(f"{name} {results[name]} {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])

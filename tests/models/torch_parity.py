"""Run by an interpreter with PyTorch: how far pytorch is from the reference, as JSON on the last line of stdout."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from reduced import LEARNING_RATES, REDUCED, model_of

from steptime.backends.base import Program, find
from steptime.models import zoo
from steptime.models.graph import Graph
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Case

STEPS = 2


def program(backend: str, graph: Graph, precision: str, batch: int, rate: float, **options: Any) -> Program:
    case = Case(graph.name, backend, batch, precision=precision, learning_rate=rate, backend_options=options)
    found = find(backend)
    found.check(case)
    inputs, labels = batch_of(graph, batch, case.seed)
    return found.build(graph, case, initial_weights(graph, case.seed), inputs, labels)


def distance(truth: np.ndarray, found: np.ndarray) -> float:
    """Largest difference, relative to the largest value."""
    return float(np.abs(truth - found).max() / np.abs(truth).max())


def reduced(name: str, layout: str) -> dict[str, float]:
    graph = zoo.build(model_of(name), REDUCED[name]).without_dropout()
    rate = LEARNING_RATES.get(name, 0.01)
    truth = program("reference", graph, "fp64", 3, rate)
    double = program("pytorch", graph, "fp64", 3, rate, layout=layout)
    single = program("pytorch", graph, "fp32", 3, rate, layout=layout)
    outputs = truth.outputs()
    result = {"outputs": distance(outputs, double.outputs()), "outputs_fp32": distance(outputs, single.outputs())}
    for _ in range(STEPS):
        truth.step()
        double.step()
    result["loss"] = abs(float(truth.loss() or 0) / float(double.loss() or 0) - 1)
    result["weights"] = trained_distance(graph, truth.weights(), double.weights())
    result["outputs_after"] = distance(truth.outputs(), double.outputs())
    return result


def trained_distance(graph: Graph, truth: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> float:
    """Of each array's change by training; changes that are zero but for rounding are measured by the largest of all."""
    begin = initial_weights(graph, 1)
    assert truth.keys() == found.keys() == begin.keys()
    moved = {k: np.abs(truth[k] - begin[k]).max() for k in truth}
    floor = 1e-3 * max(moved.values())
    return float(max(np.abs(truth[k] - found[k]).max() / max(moved[k], floor) for k in truth))


def full(name: str) -> dict[str, float]:
    """Outputs at the published size, one sample, in single precision, against the reference in single precision."""
    graph = zoo.build(name, {})
    outputs = program("reference", graph, "fp32", 1, 0.01).outputs()
    return {"outputs": distance(outputs, program("pytorch", graph, "fp32", 1, 0.01).outputs())}


def main(kind: str, *names: str) -> None:
    import torch

    torch.set_num_threads(1)
    results: dict[str, dict[str, float]] = {}
    for number, name in enumerate(names):
        begin = time.perf_counter()
        layout = ("channels_last", "contiguous")[number % 2]
        results[name] = full(name) if kind == "full" else reduced(name, layout)
        results[name]["seconds"] = time.perf_counter() - begin
        print(name, results[name], file=sys.stderr)
    print(json.dumps(results))


main(*sys.argv[1:])

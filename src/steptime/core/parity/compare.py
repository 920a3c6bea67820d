"""The distance between a backend and the reference, which always computes in double precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steptime.core.backends.base import Array, Program, find
from steptime.core.models.graph import Graph
from steptime.core.models.weights import batch_of, initial_weights
from steptime.core.schema import Case, Precision

Figures = dict[str, float]


def compare(graph: Graph, case: Case, steps: int) -> Figures:
    """Outputs before training; with steps also the loss, all weights, running statistics and the outputs after them."""
    theirs = program(graph, case)
    truth = program(graph, replace(case, backend="reference", precision=Precision.FP64, backend_options={}))
    figures = {"outputs": distance(truth.outputs(), theirs.outputs())}
    if steps:
        for each in (truth, theirs):
            train(each, steps)
        figures["loss"] = abs(float(theirs.loss() or 0) / float(truth.loss() or 0) - 1)
        begin = initial_weights(graph, case.seed)
        figures["weights"] = moved_distance(graph, begin, truth.weights(), theirs.weights(), trainable=True)
        figures["statistics"] = moved_distance(graph, begin, truth.weights(), theirs.weights(), trainable=False)
        figures["outputs_after"] = distance(truth.outputs(), theirs.outputs())
    return figures


def program(graph: Graph, case: Case) -> Program:
    backend = find(case.backend)
    backend.check(case)
    inputs, labels = batch_of(graph, case.batch, case.seed)
    return backend.build(graph, case, initial_weights(graph, case.seed), inputs, labels)


def train(program: Program, steps: int) -> None:
    for _ in range(steps):
        program.step()
        program.wait()


def distance(truth: Array, figures: Array) -> float:
    """Largest difference, relative to the largest value. Infinite if any value is not a number."""
    if truth.shape != figures.shape:
        raise ValueError(f"outputs of shape {figures.shape} instead of {truth.shape}")
    far = float(np.abs(truth - figures).max() / np.abs(truth).max())
    return far if np.isfinite(far) else float("inf")


def moved_distance(
    graph: Graph, begin: dict[str, Array], truth: dict[str, Array], figures: dict[str, Array], trainable: bool
) -> float:
    """Of each array's change by training; changes that are zero but for rounding are measured by the largest of all."""
    if not truth.keys() == figures.keys() == begin.keys():
        raise ValueError(f"weights {sorted(truth.keys() ^ figures.keys())} are not in both")
    moved = {name: float(np.abs(truth[name] - begin[name]).max()) for name in truth}
    floor = max(1e-3 * max(moved.values()), 1e-30)
    names = [name for name in truth if graph.parameters[name].trainable == trainable]
    far = max((float(np.abs(truth[n] - figures[n]).max()) / max(moved[n], floor) for n in names), default=0.0)
    return far if np.isfinite(far) else float("inf")

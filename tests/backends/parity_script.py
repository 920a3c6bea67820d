"""How far any backend is from the reference: run by an interpreter that has its framework.

parity_script.py BACKEND PRECISION STEPS OPTIMIZER MODEL..     prints JSON on the last line: model -> figures
    BACKEND may carry options: tensorflow:compile=xla

Both are computed in this process from the same weights and the same batch, the reference always in double precision:
outputs before training; then the loss, all weights (running statistics too) and the outputs after STEPS steps.
A backend whose phases are inference only, or STEPS 0, is compared in its outputs. "MODEL" is a key of tests/models/reduced.py.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from reduced import LEARNING_RATES, REDUCED, model_of

from steptime.backends.base import Backend, Program, check_options, find
from steptime.errors import Unsupported
from steptime.models import zoo
from steptime.models.graph import Graph
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Case, option_value

BATCH = 3
Arrays = dict[str, np.ndarray]


def case_of(backend: str, precision: str, steps: int, optimizer: str, name: str, options: dict[str, Any]) -> Case:
    return Case(
        name,
        backend,
        BATCH,
        phase="training" if steps else "inference",
        precision=precision,
        optimizer=optimizer,
        learning_rate=LEARNING_RATES.get(name, 0.01 if optimizer != "adam" else 1e-3),
        backend_options=options,
    )


def program(backend: Backend, graph: Graph, case: Case) -> Program:
    backend.check(case)
    inputs, labels = batch_of(graph, case.batch, case.seed)
    return backend.build(graph, case, initial_weights(graph, case.seed), inputs, labels)


def train(program: Program, steps: int) -> None:
    for _ in range(steps):
        program.step()
        program.wait()


def distance(truth: np.ndarray, found: np.ndarray) -> float:
    """Largest difference, relative to the largest value. Infinite if any value is not a number."""
    assert truth.shape == found.shape, f"{found.shape} instead of {truth.shape}"
    far = float(np.abs(truth - found).max() / np.abs(truth).max())
    return far if np.isfinite(far) else float("inf")


def weights_distance(graph: Graph, truth: Arrays, found: Arrays, trainable: bool) -> float:
    """Of each array's change by training; changes that are zero but for rounding are measured by the largest of all."""
    begin = initial_weights(graph, 1)
    assert truth.keys() == found.keys() == begin.keys()
    moved = {k: float(np.abs(truth[k] - begin[k]).max()) for k in truth}
    floor = max(1e-3 * max(moved.values()), 1e-30)
    names = [k for k in truth if graph.parameters[k].trainable == trainable]
    return max((float(np.abs(truth[k] - found[k]).max()) / max(moved[k], floor) for k in names), default=0.0)


def compare(backend: Backend, graph: Graph, case: Case, steps: int) -> dict[str, float]:
    ours = program(backend, graph, case)
    reference = find("reference")
    truth = program(reference, graph, Case(**{**vars(case), "backend": "reference", "precision": "fp64", "backend_options": {}}))
    result = {"outputs": distance(truth.outputs(), ours.outputs())}
    if steps:
        train(truth, steps)
        train(ours, steps)
        result["loss"] = abs(float(ours.loss() or 0) / float(truth.loss() or 0) - 1)
        result["weights"] = weights_distance(graph, truth.weights(), ours.weights(), True)
        result["statistics"] = weights_distance(graph, truth.weights(), ours.weights(), False)
        result["outputs_after"] = distance(truth.outputs(), ours.outputs())
    return result


def backend_of(text: str) -> tuple[Backend, dict[str, Any]]:
    """'tensorflow:compile=xla' -> the backend and its options"""
    name, _, rest = text.partition(":")
    backend = find(name)
    pairs = dict(part.split("=", 1) for part in rest.split(",") if part)
    options = {key: option_value(value, backend.options.get(key)) for key, value in pairs.items()}
    check_options(backend, options)
    return backend, options


def main(backend_text: str, precision: str, steps_text: str, optimizer: str, *names: str) -> None:
    (backend, options), steps = backend_of(backend_text), int(steps_text)
    name = backend.name
    backend.start(case_of(name, precision, steps, optimizer, names[0], options))
    results: dict[str, Any] = {}
    for model in names:
        begin = time.perf_counter()
        graph = zoo.build(model_of(model), REDUCED[model]).without_dropout()
        try:
            results[model] = compare(backend, graph, case_of(name, precision, steps, optimizer, model, options), steps)
        except Unsupported as reason:
            results[model] = {"unsupported": str(reason)}
        results[model]["seconds"] = time.perf_counter() - begin
        print(model, results[model], file=sys.stderr, flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])

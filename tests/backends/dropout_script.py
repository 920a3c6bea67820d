"""What a backend's dropout does, and whether a seed decides everything: run by an interpreter that has its framework.

dropout_script.py BACKEND     prints JSON on the last line

The model is a weighted sum of ones that dropout went over, and its loss half the square of that sum: each weight changes by
rate x sum x (what its one was multiplied with), which tells the mask.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from parity_script import backend_of

from steptime.backends.base import Backend
from steptime.models.graph import Graph, Net
from steptime.models.ops import Dense, Dropout
from steptime.schema import Case

DROPPED, WIDTH, LEARNING_RATE, STEPS = 0.3, 4000, 1e-4, 4


def graph() -> Graph:
    net = Net("dropped")
    return net.graph(net(Dense(1, bias=False), net(Dropout(DROPPED), net.input(WIDTH), name="drop"), name="sum"), loss="l2")


def case_of(backend: Backend, options: dict[str, Any], seed: int) -> Case:
    return Case("dropped", backend.name, 1, learning_rate=LEARNING_RATE, seed=seed, backend_options=options)


def masks(backend: Backend, options: dict[str, Any], seed: int) -> np.ndarray:
    """(steps, values): what each value was multiplied with."""
    weights = {"sum/kernel": np.full((WIDTH, 1), 1e-3, np.float32)}
    program = backend.build(
        graph(), case_of(backend, options, seed), weights, np.ones((1, WIDTH), np.float32), np.zeros(0, np.int64)
    )
    found = []
    for _ in range(STEPS):
        before = program.weights()["sum/kernel"][:, 0]
        program.step()
        program.wait()
        change = before - program.weights()["sum/kernel"][:, 0]
        found.append(np.abs(change) / (LEARNING_RATE * (2 * float(program.loss() or 0)) ** 0.5))
    return np.array(found)


def main(backend_text: str) -> None:
    backend, options = backend_of(backend_text)
    backend.start(case_of(backend, options, 1))
    first, again, other = (masks(backend, options, seed) for seed in (1, 1, 2))
    kept = first > 0.5
    result = {
        "wanted_kept": 1 - DROPPED,
        "kept": float(kept.mean()),
        "scale": float(first[kept].mean()),
        "scale_spread": float(np.ptp(first[kept])),
        "steps_differ": bool((kept[0] != kept[1]).any()),
        "repeatable": bool((first == again).all()),
        "seed_matters": bool((kept != (other > 0.5)).any()),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])

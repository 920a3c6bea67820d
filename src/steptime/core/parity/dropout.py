"""What a backend's dropout does, and whether the seed decides everything.

The model is a weighted sum of ones that dropout went over, and its loss half the square of that sum: each weight changes by
rate x sum x (what its one was multiplied with), which tells the mask.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Union

import numpy as np

from steptime.core.backends.base import Array, find
from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import Dense, Dropout
from steptime.core.schema import Case, Phase

DROPPED, WIDTH, LEARNING_RATE, STEPS = 0.3, 4000, 1e-4, 4


def dropout_figures(case: Case) -> dict[str, Union[float, bool]]:
    first, again, other = (_masks(replace(case, seed=seed)) for seed in (1, 1, 2))
    kept = first > 0.5
    return {
        "kept_error": abs(float(kept.mean()) - (1 - DROPPED)),
        "scale_error": abs(float(first[kept].mean()) * (1 - DROPPED) - 1),
        "scale_spread": float(np.ptp(first[kept])),
        "steps_differ": bool((kept[0] != kept[1]).any()),
        "repeatable": bool((first == again).all()),
        "seed_matters": bool((kept != (other > 0.5)).any()),
    }


def _graph() -> Graph:
    net = Net("dropped")
    return net.graph(net(Dense(1, bias=False), net(Dropout(DROPPED), net.input(WIDTH), name="drop"), name="sum"), loss="l2")


def _masks(case: Case) -> Array:
    """(steps, values): what each value was multiplied with."""
    case = replace(case, batch=1, learning_rate=LEARNING_RATE, optimizer="sgd", phase=Phase.TRAINING)
    weights = {"sum/kernel": np.full((WIDTH, 1), 1e-3, np.float32)}
    inputs, labels = np.ones((1, WIDTH), np.float32), np.zeros(0, np.int64)
    program = find(case.backend).build(_graph(), case, weights, inputs, labels)
    masks = []
    for _ in range(STEPS):
        before = program.weights()["sum/kernel"][:, 0]
        program.step()
        program.wait()
        change = before - program.weights()["sum/kernel"][:, 0]
        masks.append(np.abs(change) / (LEARNING_RATE * (2 * float(program.loss() or 0)) ** 0.5))
    return np.array(masks)

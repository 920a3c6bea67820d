"""The numpy reference as a backend: every other backend is compared with it."""

from __future__ import annotations

import sys
from typing import Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights
from steptime.core.backends.peak import CPU_SIZES, best_rate
from steptime.core.models.graph import Graph
from steptime.core.reference.network import Network
from steptime.core.schema import Case, Phase, Precision

DTYPES = {Precision.FP32: np.float32, Precision.FP64: np.float64}


class ReferenceProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        dtype = DTYPES[case.precision]
        self._network = Network(graph, {k: v.astype(dtype) for k, v in weights.items()}, case.seed)
        self._inputs = inputs if graph.input_op.kind == "int" else inputs.astype(dtype)
        self._labels = labels
        self._case = case
        self._loss: Optional[float] = None

    def step(self) -> None:
        if self._case.phase == Phase.TRAINING:
            self._loss = self._network.train(self._inputs, self._labels, self._case.optimizer, self._case.learning_rate)
        else:
            self._network.forward(self._inputs, training=False)

    def feed(self, inputs: Array, labels: Array) -> None:
        self._inputs = inputs if inputs.dtype.kind == "i" else inputs.astype(DTYPES[self._case.precision])
        self._labels = labels

    def loss(self) -> Optional[float]:
        return self._loss

    def outputs(self) -> Array:
        return self._network.forward(self._inputs, training=False)[0].astype(np.float64)

    def weights(self) -> dict[str, Array]:
        return dict(self._network.weights)


class Reference(Backend):
    name = "reference"
    precisions = tuple(DTYPES)
    accepts_batches = True

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return ReferenceProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        return Facts("numpy", np.__version__, case.threads, case.precision, {"python": sys.version.split()[0]})

    def peak_flops(self, case: Case) -> float:
        def multiply(size: int):  # type: ignore[no-untyped-def]
            a = np.ones((size, size), DTYPES[case.precision])
            out = np.empty_like(a)
            return lambda: np.matmul(a, a, out)

        return best_rate(multiply, lambda: None, CPU_SIZES)


BACKEND = Reference()

"""A whole graph in numpy: forward, backward, and one optimiser step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph, Node
from steptime.core.models.ops import Input
from steptime.core.reference import attention, dense, norm, pointwise, sequence, window
from steptime.core.reference.kernel import Array, Context, Kernels, Weights
from steptime.core.reference.loss import loss_and_gradient
from steptime.core.reference.optimizers import ADAM_BETAS, ADAM_EPSILON, MOMENTUM

KERNELS: Kernels = {
    **window.KERNELS,
    **dense.KERNELS,
    **norm.KERNELS,
    **pointwise.KERNELS,
    **sequence.KERNELS,
    **attention.KERNELS,
}


@dataclass
class Network:
    """Weights are 'node/parameter' to array and are changed in place by `train`."""

    graph: Graph
    weights: Weights
    seed: int = 1
    _moments: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    _steps: int = 0

    def __post_init__(self) -> None:
        for node in self.graph.nodes:
            if type(node.op) not in KERNELS and not isinstance(node.op, Input):
                raise Unsupported(f"the reference has no operator {type(node.op).__name__}")
        self._random = np.random.RandomState(self.seed)

    def forward(self, x: Array, training: bool) -> tuple[Array, dict[str, Any]]:
        values: Weights = {self.graph.input.name: x}
        saved: dict[str, Any] = {}
        uses = {name: len(nodes) for name, nodes in self.graph.consumers.items()}
        for node in self.graph.nodes[1:]:
            context = Context(training, self._random)
            forward, _ = KERNELS[type(node.op)]
            values[node.name], kept = forward(node.op, self._own(node), [values[i] for i in node.inputs], context)
            if training:
                saved[node.name] = kept
            for name, value in context.updates.items():
                self.weights[f"{node.name}/{name}"] = value
            for name in node.inputs:
                uses[name] -= 1
                if not uses[name]:
                    del values[name]
        return values[self.graph.output], saved

    def gradients(self, x: Array, labels: Array) -> tuple[float, Weights]:
        """The loss, and the gradient of each trainable parameter."""
        outputs, saved = self.forward(x, training=True)
        loss, gradient = loss_and_gradient(self.graph.loss, outputs, labels)
        arriving: dict[str, Optional[Array]] = {self.graph.output: gradient}
        gradients: Weights = {}
        for node in reversed(self.graph.nodes[1:]):
            dy = arriving.pop(node.name, None)
            if dy is None:
                continue
            _, backward = KERNELS[type(node.op)]
            to_inputs, to_weights = backward(node.op, self._own(node), saved.pop(node.name), dy)
            self._collect(gradients, node, to_weights)
            for name, part in zip(node.inputs, to_inputs):
                before = arriving.get(name)
                arriving[name] = part if before is None else (before if part is None else before + part)
        return loss, gradients

    def train(self, x: Array, labels: Array, optimizer: str, learning_rate: float) -> float:
        loss, gradients = self.gradients(x, labels)
        self._steps += 1
        for name, gradient in gradients.items():
            self.weights[name] = self.weights[name] - self._update(name, gradient, optimizer, learning_rate)
        return loss

    def _update(self, name: str, gradient: Array, optimizer: str, rate: float) -> Array:
        if optimizer == "none":
            return np.zeros_like(gradient)
        if optimizer == "sgd":
            return rate * gradient
        first, second = self._moments.get(name, (np.zeros_like(gradient), np.zeros_like(gradient)))
        if optimizer == "momentum":
            first = MOMENTUM * first + gradient
            self._moments[name] = first, second
            return rate * first
        slow, fast = ADAM_BETAS
        first, second = slow * first + (1 - slow) * gradient, fast * second + (1 - fast) * gradient * gradient
        self._moments[name] = first, second
        scaled = np.sqrt(second / (1 - fast**self._steps)) + ADAM_EPSILON
        update: Array = rate * (first / (1 - slow**self._steps)) / scaled
        return update

    def _collect(self, gradients: Weights, node: Node, own_gradients: Weights) -> None:
        """Adds a node's gradients; those of a shared parameter go to its owner, which may have some already."""
        names = self.graph.array_names(node)
        for own, gradient in own_gradients.items():
            name = names[own]
            gradients[name] = gradients[name] + gradient if name in gradients else gradient

    def _own(self, node: Node) -> Weights:
        return {own: self.weights[name] for own, name in self.graph.array_names(node).items()}

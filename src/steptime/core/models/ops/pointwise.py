"""Operators without arithmetic to speak of: activations, dropout, and those that move or join values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steptime.core.models.ops.base import Op, Shape

ACTIVATIONS = ("relu", "relu6", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh")


@dataclass(frozen=True)
class Activation(Op):
    """silu is also called swish; gelu is the exact one, gelu_tanh its approximation as in GPT-2."""

    kind: str = "relu"

    def output_shape(self, *inputs: Shape) -> Shape:
        if self.kind not in ACTIVATIONS:
            raise ValueError(f"unknown activation {self.kind!r}; known: {', '.join(ACTIVATIONS)}")
        return inputs[0]


@dataclass(frozen=True)
class Dropout(Op):
    """Kept values are scaled by 1 / (1 - rate); does nothing in inference."""

    rate: float = 0.5

    def output_shape(self, *inputs: Shape) -> Shape:
        if not 0 <= self.rate < 1:
            raise ValueError(f"rate must be in [0, 1), got {self.rate}")
        return inputs[0]


@dataclass(frozen=True)
class Scale(Op):
    """Times a constant, such as the damping of a residual branch."""

    factor: float


@dataclass(frozen=True)
class Flatten(Op):
    """To one axis, in the order of the last axis fastest."""

    def output_shape(self, *inputs: Shape) -> Shape:
        return (math.prod(inputs[0]),)


@dataclass(frozen=True)
class Add(Op):
    arity = None

    def output_shape(self, *inputs: Shape) -> Shape:
        if len(inputs) < 2 or len(set(inputs)) != 1:
            raise ValueError(f"adds two or more inputs of one shape, got {', '.join(map(str, inputs))}")
        return inputs[0]


@dataclass(frozen=True)
class Multiply(Op):
    """Element by element; a second input of shape (channels,) weighs the channels of the first."""

    arity = 2

    def output_shape(self, *inputs: Shape) -> Shape:
        x, y = inputs
        if y not in (x, x[-1:]):
            raise ValueError(f"multiplies inputs of one shape, or channels by their weights, got {x} and {y}")
        return x


@dataclass(frozen=True)
class Concat(Op):
    """Along the last axis."""

    arity = None

    def output_shape(self, *inputs: Shape) -> Shape:
        if len(inputs) < 2 or len({x[:-1] for x in inputs}) != 1:
            raise ValueError(f"joins two or more inputs that agree in all but the last axis, got {', '.join(map(str, inputs))}")
        return (*inputs[0][:-1], sum(x[-1] for x in inputs))

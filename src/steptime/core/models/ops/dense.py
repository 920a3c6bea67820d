"""Matrix products with a weight."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steptime.core.models.ops.base import Op, Parameter, Shape, Shared


@dataclass(frozen=True)
class Dense(Op):
    """A matrix product over the last axis."""

    units: int
    bias: bool = True

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        if not x or self.units < 1:
            raise ValueError(f"needs at least one input axis and one unit, got {x} and {self.units}")
        return (*x[:-1], self.units)

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        (x,) = inputs
        kernel = Parameter("kernel", (x[-1], self.units), fan_in=x[-1])
        return (kernel, Parameter("bias", (self.units,), "zeros")) if self.bias else (kernel,)

    def flops(self, *inputs: Shape) -> int:
        (x,) = inputs
        return 2 * math.prod(x) * self.units


@dataclass(frozen=True)
class TiedDense(Op):
    """From the width of an Embedding back to its vocabulary, with that node's table transposed: a tied output head."""

    embedding: str
    """name of the node that owns the table"""
    units: int
    bias: bool = False

    def output_shape(self, *inputs: Shape) -> Shape:
        return (*inputs[0][:-1], self.units)

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return (Parameter("bias", (self.units,), "zeros"),) if self.bias else ()

    def shared(self, *inputs: Shape) -> tuple[Shared, ...]:
        return (Shared("table", self.embedding, "table", (self.units, inputs[0][-1])),)

    def flops(self, *inputs: Shape) -> int:
        return 2 * math.prod(inputs[0]) * self.units

"""What an operator is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Optional, Union

Shape = tuple[int, ...]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Parameter:
    """A trainable array, or a running statistic (`trainable=False`, not counted as a parameter)."""

    name: str
    shape: Shape
    init: str = "fan_in"
    """fan_in: uniform with variance 2 / fan_in · zeros · ones · small: uniform with deviation 0.02"""
    fan_in: int = 1
    trainable: bool = True

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Shared:
    """A parameter that another node owns: counted there, used here under `name`, and trained by both."""

    name: str
    node: str
    parameter: str
    shape: Shape


@dataclass(frozen=True)
class Op:
    """Defaults that suit an element-wise operator of one input."""

    arity: ClassVar[Optional[int]] = 1
    """how many inputs it takes; None: it checks that itself"""

    def output_shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return ()

    def shared(self, *inputs: Shape) -> tuple[Shared, ...]:
        return ()

    def flops(self, *inputs: Shape) -> int:
        """Of the forward pass, for one sample."""
        return 0

    def backward_flops(self, needs_grad: tuple[bool, ...], *inputs: Shape) -> int:
        """One product as large as the forward one for the weights, one for each input whose gradient is wanted."""
        weights = any(p.trainable for p in self.parameters(*inputs)) or bool(self.shared(*inputs))
        return (int(weights) + sum(needs_grad)) * self.flops(*inputs)


@dataclass(frozen=True)
class Input(Op):
    """The one input of a graph."""

    shape: Shape
    kind: str = "float"
    """float: standard normal · int: indices below `high`"""
    high: int = 0

    arity = 0

    def output_shape(self, *inputs: Shape) -> Shape:
        return self.shape


def pair(value: Union[int, Pair]) -> Pair:
    return (value, value) if isinstance(value, int) else value


def rank(shape: Shape, wanted: int, layout: str) -> None:
    if len(shape) != wanted:
        raise ValueError(f"needs an input of shape {layout}, got {shape}")

"""Normalisation."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.core.models.ops.base import Op, Parameter, Shape, rank


@dataclass(frozen=True)
class BatchNorm(Op):
    """Over all axes but the last. Running variance is the unbiased one; `momentum` is the share of the old value."""

    epsilon: float = 1e-5
    momentum: float = 0.9
    scale: bool = True
    center: bool = True

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        (x,) = inputs
        c = (x[-1],)
        return (
            *((Parameter("gamma", c, "ones"),) if self.scale else ()),
            *((Parameter("beta", c, "zeros"),) if self.center else ()),
            Parameter("mean", c, "zeros", trainable=False),
            Parameter("variance", c, "ones", trainable=False),
        )


@dataclass(frozen=True)
class LRN(Op):
    """Local response normalisation over channels: x / (bias + alpha * sum of squares)^beta."""

    radius: int = 2
    bias: float = 2.0
    alpha: float = 1e-4
    beta: float = 0.75

    def output_shape(self, *inputs: Shape) -> Shape:
        rank(inputs[0], 3, "(height, width, channels)")
        return inputs[0]


@dataclass(frozen=True)
class LayerNorm(Op):
    """Over the last axis of each position: to mean 0 and variance 1, then scaled and shifted."""

    epsilon: float = 1e-5

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        width = (inputs[0][-1],)
        return Parameter("gamma", width, "ones"), Parameter("beta", width, "zeros")


@dataclass(frozen=True)
class RMSNorm(Op):
    """Over the last axis of each position: to a mean square of 1, then scaled."""

    epsilon: float = 1e-6

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return (Parameter("gamma", (inputs[0][-1],), "ones"),)

"""The closed set of operators.

An operator is a frozen dataclass of its attributes that knows, for given input shapes, its output shape, its
parameters and its cost. Shapes are those of one sample, without the batch; images are (height, width, channels);
kernels are (height, width, in, out); dense weights are (in, out). Backends translate.

FLOPs count the multiply-adds of convolutions and matrix products as 2, and nothing else, as the counters that
people compare with do. Normalisation, activation and pooling are cheap in FLOPs and dear in bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Union

Shape = tuple[int, ...]
Pair = tuple[int, int]
Padding = Union[str, int, tuple[Pair, Pair]]


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
class Op:
    """Defaults that suit an element-wise operator of one input."""

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        return x

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return ()

    def flops(self, *inputs: Shape) -> int:
        """Of the forward pass, for one sample."""
        return 0

    def backward_flops(self, needs_grad: tuple[bool, ...], *inputs: Shape) -> int:
        """One product as large as the forward one for the weights, one for each input whose gradient is wanted."""
        products = int(any(p.trainable for p in self.parameters(*inputs))) + sum(needs_grad)
        return products * self.flops(*inputs)


def pair(value: Union[int, Pair]) -> Pair:
    return (value, value) if isinstance(value, int) else value


def rank(shape: Shape, wanted: int, layout: str) -> None:
    if len(shape) != wanted:
        raise ValueError(f"needs an input of shape {layout}, got {shape}")


def resolve_padding(padding: Padding, size: Pair, kernel: Pair, strides: Pair, dilation: Pair = (1, 1)) -> tuple[Pair, Pair]:
    """((top, bottom), (left, right)): 'same' as TensorFlow defines it (the odd pixel at the end), 'valid', or pixels."""
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        return tuple(_same(*axis) for axis in zip(size, kernel, strides, dilation))  # type: ignore[return-value]
    if isinstance(padding, int):
        return (padding, padding), (padding, padding)
    if isinstance(padding, str):
        raise ValueError(f"padding is 'same', 'valid', a number of pixels or ((top, bottom), (left, right)), not {padding!r}")
    return padding


def _same(size: int, kernel: int, stride: int, dilation: int) -> Pair:
    reach = (kernel - 1) * dilation + 1
    total = max((math.ceil(size / stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


@dataclass(frozen=True)
class Window(Op):
    """Something that slides over an image: where it stops decides the output's height and width."""

    def window(self, x: Shape) -> tuple[Pair, Pair, Pair, Pair, tuple[Pair, Pair]]:
        """output size, kernel, strides, dilation, padding"""
        rank(x, 3, "(height, width, channels)")
        kernel, strides, dilation = self._geometry()
        if min(kernel + strides + dilation) < 1:
            raise ValueError("kernel, strides and dilation must be at least 1")
        pads = resolve_padding(self._padding(), (x[0], x[1]), kernel, strides, dilation)
        size = tuple((x[i] + sum(pads[i]) - (kernel[i] - 1) * dilation[i] - 1) // strides[i] + 1 for i in (0, 1))
        if self._ceil():
            size = tuple(self._ceil_size(x[i], kernel[i], strides[i], pads[i]) for i in (0, 1))
        if min(size) < 1:
            raise ValueError(f"a {kernel[0]}x{kernel[1]} window does not fit into {x[0]}x{x[1]} with padding {pads}")
        return (size[0], size[1]), kernel, strides, dilation, pads

    def _geometry(self) -> tuple[Pair, Pair, Pair]:
        raise NotImplementedError

    def _padding(self) -> Padding:
        raise NotImplementedError

    def _ceil(self) -> bool:
        return False

    @staticmethod
    def _ceil_size(size: int, kernel: int, stride: int, pads: Pair) -> int:
        out = math.ceil((size + sum(pads) - kernel) / stride) + 1
        return out - 1 if (out - 1) * stride >= size + pads[0] else out


@dataclass(frozen=True)
class Conv2d(Window):
    filters: int
    kernel: Union[int, Pair]
    strides: Union[int, Pair] = 1
    padding: Padding = "same"
    groups: int = 1
    bias: bool = True
    dilation: Union[int, Pair] = 1

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        size = self.window(x)[0]
        if self.filters < 1 or self.groups < 1 or x[2] % self.groups or self.filters % self.groups:
            raise ValueError(f"{self.groups} groups do not divide {x[2]} channels into {self.filters} filters")
        return (*size, self.filters)

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        (x,) = inputs
        height, width = pair(self.kernel)
        fan_in = height * width * (x[2] // self.groups)
        kernel = Parameter("kernel", (height, width, x[2] // self.groups, self.filters), fan_in=fan_in)
        return (kernel, Parameter("bias", (self.filters,), "zeros")) if self.bias else (kernel,)

    def flops(self, *inputs: Shape) -> int:
        size = self.window(inputs[0])[0]
        return 2 * math.prod(size) * self.parameters(*inputs)[0].size

    def _geometry(self) -> tuple[Pair, Pair, Pair]:
        return pair(self.kernel), pair(self.strides), pair(self.dilation)

    def _padding(self) -> Padding:
        return self.padding


@dataclass(frozen=True)
class Pool(Window):
    kernel: Union[int, Pair] = 2
    strides: Union[int, Pair] = 2
    padding: Padding = "valid"
    ceil: bool = False
    """round the output size up, as Caffe does; the last window may hang over the edge"""

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        return (*self.window(x)[0], x[2])

    def _geometry(self) -> tuple[Pair, Pair, Pair]:
        return pair(self.kernel), pair(self.strides), (1, 1)

    def _padding(self) -> Padding:
        return self.padding

    def _ceil(self) -> bool:
        return self.ceil


@dataclass(frozen=True)
class MaxPool(Pool):
    """Padding counts as minus infinity."""


@dataclass(frozen=True)
class AvgPool(Pool):
    count_padding: bool = False
    """whether padded zeros count in the divisor"""


@dataclass(frozen=True)
class GlobalAvgPool(Op):
    """(height, width, channels) to (channels,)."""

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 3, "(height, width, channels)")
        return (x[2],)


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

    def flops(self, *inputs: Shape) -> int:
        return 0


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
class Activation(Op):
    """relu, and others as models need them."""

    kind: str = "relu"

    def output_shape(self, *inputs: Shape) -> Shape:
        if self.kind not in ACTIVATIONS:
            raise ValueError(f"unknown activation {self.kind!r}; known: {', '.join(ACTIVATIONS)}")
        (x,) = inputs
        return x


ACTIVATIONS = ("relu", "tanh", "sigmoid")


@dataclass(frozen=True)
class Dropout(Op):
    """Kept values are scaled by 1 / (1 - rate); does nothing in inference."""

    rate: float = 0.5

    def output_shape(self, *inputs: Shape) -> Shape:
        if not 0 <= self.rate < 1:
            raise ValueError(f"rate must be in [0, 1), got {self.rate}")
        (x,) = inputs
        return x


@dataclass(frozen=True)
class Flatten(Op):
    """To one axis, in the order of the last axis fastest."""

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        return (math.prod(x),)


@dataclass(frozen=True)
class Add(Op):
    def output_shape(self, *inputs: Shape) -> Shape:
        if len(inputs) < 2 or len(set(inputs)) != 1:
            raise ValueError(f"adds two or more inputs of one shape, got {', '.join(map(str, inputs))}")
        return inputs[0]


@dataclass(frozen=True)
class Concat(Op):
    """Along the last axis."""

    def output_shape(self, *inputs: Shape) -> Shape:
        if len(inputs) < 2 or len({x[:-1] for x in inputs}) != 1:
            raise ValueError(f"joins two or more inputs that agree in all but the last axis, got {', '.join(map(str, inputs))}")
        return (*inputs[0][:-1], sum(x[-1] for x in inputs))


@dataclass(frozen=True)
class Input(Op):
    """The one input of a graph."""

    shape: Shape
    kind: str = "float"
    """float: standard normal · int: indices below `high`"""
    high: int = 0

    def output_shape(self, *inputs: Shape) -> Shape:
        return self.shape

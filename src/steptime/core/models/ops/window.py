"""Operators that slide over an image, and those that resize one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Union

from steptime.core.models.ops.base import Op, Pair, Parameter, Shape, pair, rank

Padding = Union[str, int, tuple[Pair, Pair]]


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
        size, kernel, _, _, pads = self.window(x)
        if any(max(pads[i]) >= kernel[i] for i in (0, 1)):
            raise ValueError(f"with padding {pads}, a {kernel[0]}x{kernel[1]} window may see nothing else")
        return (*size, x[2])

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
class Pad(Op):
    """Zeros around an image: (before, after) for each axis; a negative number crops."""

    rows: Pair = (0, 0)
    columns: Pair = (0, 0)
    channels: Pair = (0, 0)

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 3, "(height, width, channels)")
        for size, (before, after) in zip(x, self.pads):
            if min(before, 0) + min(after, 0) <= -size:
                raise ValueError(f"crops {x} by {self.pads}, which leaves nothing")
        return tuple(size + sum(pads) for size, pads in zip(x, self.pads))

    @property
    def pads(self) -> tuple[Pair, Pair, Pair]:
        return self.rows, self.columns, self.channels

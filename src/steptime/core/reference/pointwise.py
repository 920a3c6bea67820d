"""Operators without arithmetic to speak of: activations, dropout, and those that move or join values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from steptime.core.models import ops
from steptime.core.reference.kernel import Array, Context, Kernels, Weights


def _sigmoid(x: Array) -> Array:
    y: Array = 1 / (1 + np.exp(-x))
    return y


_erf = np.vectorize(math.erf, otypes=[float])  # numpy has none of its own
GELU_SCALE, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


def _normal_share(x: Array) -> Array:
    """The standard normal distribution's share below x."""
    share: Array = 0.5 * (1 + _erf(x / math.sqrt(2)))
    return share.astype(x.dtype, copy=False)


def _gelu_slope(x: Array, y: Array) -> Array:
    slope: Array = _normal_share(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return slope


def _gelu_bend(x: Array) -> Array:
    bend: Array = np.tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x))
    return bend


def _gelu_tanh_slope(x: Array, y: Array) -> Array:
    bend = _gelu_bend(x)
    slope: Array = 0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * GELU_SCALE * (1 + 3 * GELU_CUBE * x * x)
    return slope


def _silu_slope(x: Array, y: Array) -> Array:
    share = _sigmoid(x)
    slope: Array = share * (1 + x * (1 - share))
    return slope


# kind: (value of x, derivative at x and y = value)
CURVES: dict[str, tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]] = {
    "relu": (lambda x: np.maximum(x, 0), lambda x, y: (x > 0).astype(x.dtype)),
    "relu6": (lambda x: np.clip(x, 0, 6), lambda x, y: ((x > 0) & (x < 6)).astype(x.dtype)),
    "tanh": (np.tanh, lambda x, y: 1 - y * y),
    "sigmoid": (_sigmoid, lambda x, y: y * (1 - y)),
    "silu": (lambda x: x * _sigmoid(x), _silu_slope),
    "gelu": (lambda x: x * _normal_share(x), _gelu_slope),
    "gelu_tanh": (lambda x: 0.5 * x * (1 + _gelu_bend(x)), _gelu_tanh_slope),
}


def activation_forward(op: ops.Activation, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    y = CURVES[op.kind][0](xs[0])
    return y, (xs[0], y)


def activation_backward(op: ops.Activation, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy * CURVES[op.kind][1](*saved)], {}


def dropout_forward(op: ops.Dropout, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    if not ctx.training or op.rate == 0:
        return xs[0], None
    mask = np.greater_equal(ctx.random.random_sample(xs[0].shape), op.rate) * xs[0].dtype.type(1 / (1 - op.rate))
    return xs[0] * mask, mask


def dropout_backward(op: ops.Dropout, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy if saved is None else dy * saved], {}


def flatten_forward(op: ops.Flatten, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0].reshape(xs[0].shape[0], -1), xs[0].shape


def flatten_backward(op: ops.Flatten, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy.reshape(saved)], {}


def global_avg_forward(op: ops.GlobalAvgPool, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0].mean((1, 2)), xs[0].shape


def global_avg_backward(op: ops.GlobalAvgPool, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [np.broadcast_to(dy[:, None, None] / (saved[1] * saved[2]), saved)], {}


def add_forward(op: ops.Add, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    total = xs[0] + xs[1]
    for x in xs[2:]:
        total = total + x
    return total, len(xs)


def add_backward(op: ops.Add, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy] * saved, {}


def scale_forward(op: ops.Scale, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0] * xs[0].dtype.type(op.factor), None


def scale_backward(op: ops.Scale, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy * dy.dtype.type(op.factor)], {}


def multiply_forward(op: ops.Multiply, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    x, y = xs
    wide = y.reshape(y.shape[0], *(1,) * (x.ndim - y.ndim), *y.shape[1:])
    return x * wide, (x, wide, y.shape)


def multiply_backward(op: ops.Multiply, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    x, wide, shape = saved
    spread = tuple(range(1, 1 + x.ndim - len(shape)))
    return [dy * wide, (dy * x).sum(spread).reshape(shape)], {}


def concat_forward(op: ops.Concat, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return np.concatenate(xs, -1), [x.shape[-1] for x in xs]


def concat_backward(op: ops.Concat, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return list(np.split(dy, np.cumsum(saved)[:-1], -1)), {}


KERNELS: Kernels = {
    ops.Activation: (activation_forward, activation_backward),
    ops.Dropout: (dropout_forward, dropout_backward),
    ops.Flatten: (flatten_forward, flatten_backward),
    ops.GlobalAvgPool: (global_avg_forward, global_avg_backward),
    ops.Scale: (scale_forward, scale_backward),
    ops.Multiply: (multiply_forward, multiply_backward),
    ops.Add: (add_forward, add_backward),
    ops.Concat: (concat_forward, concat_backward),
}

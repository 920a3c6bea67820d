"""Normalisation."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from steptime.core.models import ops
from steptime.core.reference.kernel import Array, Context, Kernels, Weights


def batch_norm_forward(op: ops.BatchNorm, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    axes = tuple(range(x.ndim - 1))
    if ctx.training:
        mean, variance = x.mean(axes), x.var(axes)
        count = x.size // x.shape[-1]
        unbiased = variance * (count / max(count - 1, 1))
        ctx.updates["mean"] = op.momentum * p["mean"] + (1 - op.momentum) * mean
        ctx.updates["variance"] = op.momentum * p["variance"] + (1 - op.momentum) * unbiased
    else:
        mean, variance = p["mean"], p["variance"]
    scale = 1 / np.sqrt(variance + op.epsilon)
    normed = (x - mean) * scale
    y = normed * p["gamma"] if op.scale else normed
    return (y + p["beta"] if op.center else y), (normed, scale)


def batch_norm_backward(op: ops.BatchNorm, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    normed, scale = saved
    axes = tuple(range(dy.ndim - 1))
    grads = {}
    if op.scale:
        grads["gamma"] = (dy * normed).sum(axes)
    if op.center:
        grads["beta"] = dy.sum(axes)
    dn = dy * p["gamma"] if op.scale else dy
    return [scale * (dn - dn.mean(axes) - normed * (dn * normed).mean(axes))], grads


def layer_norm_forward(op: ops.LayerNorm, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    scale = 1 / np.sqrt(x.var(-1, keepdims=True) + op.epsilon)
    normed = (x - x.mean(-1, keepdims=True)) * scale
    return normed * p["gamma"] + p["beta"], (normed, scale)


def layer_norm_backward(op: ops.LayerNorm, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    normed, scale = saved
    axes = tuple(range(dy.ndim - 1))
    dn = dy * p["gamma"]
    dx = scale * (dn - dn.mean(-1, keepdims=True) - normed * (dn * normed).mean(-1, keepdims=True))
    return [dx], {"gamma": (dy * normed).sum(axes), "beta": dy.sum(axes)}


def rms_norm_forward(op: ops.RMSNorm, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + op.epsilon)
    normed = x * scale
    return normed * p["gamma"], (normed, scale)


def rms_norm_backward(op: ops.RMSNorm, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    normed, scale = saved
    dn = dy * p["gamma"]
    dx = scale * (dn - normed * (dn * normed).mean(-1, keepdims=True))
    return [dx], {"gamma": (dy * normed).sum(tuple(range(dy.ndim - 1)))}


def lrn_forward(op: ops.LRN, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    base = op.bias + op.alpha * _channel_sums(x * x, op.radius)
    return x * base**-op.beta, (x, base)


def lrn_backward(op: ops.LRN, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    x, base = saved
    spread = _channel_sums(dy * x * base ** (-op.beta - 1), op.radius)
    return [dy * base**-op.beta - 2 * op.alpha * op.beta * x * spread], {}


def _channel_sums(values: Array, radius: int) -> Array:
    padded = np.pad(values, ((0, 0), (0, 0), (0, 0), (radius, radius)))
    channels = values.shape[3]
    total = np.zeros_like(values)
    for offset in range(2 * radius + 1):
        total += padded[..., offset : offset + channels]
    return total


KERNELS: Kernels = {
    ops.BatchNorm: (batch_norm_forward, batch_norm_backward),
    ops.LayerNorm: (layer_norm_forward, layer_norm_backward),
    ops.RMSNorm: (rms_norm_forward, rms_norm_backward),
    ops.LRN: (lrn_forward, lrn_backward),
}

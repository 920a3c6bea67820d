"""Attention, head by head as the paper writes it."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from steptime.core.models import ops
from steptime.core.reference.kernel import Array, Context, Kernels, Weights


def attention_forward(op: ops.Attention, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    q, k, v = _heads(op, xs)
    q, k = rotate(op, q, 1), rotate(op, k, 1)
    k, v = (np.repeat(part, op.heads // op.groups, axis=1) for part in (k, v))
    scores = (q @ k.swapaxes(2, 3)) * q.dtype.type(1 / math.sqrt(q.shape[3]))
    if op.causal:
        scores = np.where(np.tri(scores.shape[2], dtype=bool), scores, -np.inf)
    exponents = np.exp(scores - scores.max(-1, keepdims=True))
    shares = exponents / exponents.sum(-1, keepdims=True)
    return _joined(shares @ v), (q, k, v, shares, len(xs))


def attention_backward(op: ops.Attention, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    q, k, v, shares, inputs = saved
    dy = _split(dy, op.heads)
    dshares = dy @ v.swapaxes(2, 3)
    dscores = shares * (dshares - (dshares * shares).sum(-1, keepdims=True)) * q.dtype.type(1 / math.sqrt(q.shape[3]))
    dq = rotate(op, dscores @ k, -1)
    dk = rotate(op, _grouped(op, dscores.swapaxes(2, 3) @ q), -1)
    dv = _grouped(op, shares.swapaxes(2, 3) @ dy)
    parts: list[Optional[Array]] = [_joined(part) for part in (dq, dk, dv)]
    return (parts if inputs == 3 else [np.concatenate(parts, -1)]), {}  # type: ignore[arg-type]


def rotate(op: ops.Attention, x: Array, direction: int) -> Array:
    """Turns each pair of elements by an angle that grows with the position and differs between pairs."""
    if not op.rope_base:
        return x
    half = x.shape[3] // 2
    speeds = op.rope_base ** (-np.arange(half) / half)
    angles = np.outer(np.arange(x.shape[2]), speeds) * direction
    cosine, sine = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def _heads(op: ops.Attention, xs: list[Array]) -> tuple[Array, Array, Array]:
    if len(xs) == 1:
        queries, keys, _ = op.widths(xs[0].shape[1:])
        xs = np.split(xs[0], [queries, queries + keys], -1)
    return _split(xs[0], op.heads), _split(xs[1], op.groups), _split(xs[2], op.groups)


def _split(x: Array, heads: int) -> Array:
    """(batch, positions, width) to (batch, heads, positions, head width)"""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).swapaxes(1, 2)


def _joined(x: Array) -> Array:
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def _grouped(op: ops.Attention, x: Array) -> Array:
    """The sum over the query heads that one key and value head serves."""
    total: Array = x.reshape(x.shape[0], op.groups, -1, *x.shape[2:]).sum(2)
    return total


KERNELS: Kernels = {ops.Attention: (attention_forward, attention_backward)}

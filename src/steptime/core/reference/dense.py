"""Matrix products."""

from __future__ import annotations

from typing import Any, Optional

from steptime.core.models import ops
from steptime.core.reference.kernel import Array, Context, Kernels, Weights


def dense_forward(op: ops.Dense, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    y = xs[0] @ p["kernel"]
    if op.bias:
        y += p["bias"]
    return y, xs[0]


def dense_backward(op: ops.Dense, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    x = saved.reshape(-1, saved.shape[-1])
    flat = dy.reshape(-1, dy.shape[-1])
    grads = {"kernel": x.T @ flat}
    if op.bias:
        grads["bias"] = flat.sum(0)
    return [dy @ p["kernel"].T], grads


def tied_forward(op: ops.TiedDense, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    y = xs[0] @ p["table"].T
    if op.bias:
        y += p["bias"]
    return y, xs[0]


def tied_backward(op: ops.TiedDense, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    flat = dy.reshape(-1, dy.shape[-1])
    grads = {"table": flat.T @ saved.reshape(-1, saved.shape[-1])}
    if op.bias:
        grads["bias"] = flat.sum(0)
    return [dy @ p["table"]], grads


KERNELS: Kernels = {ops.Dense: (dense_forward, dense_backward), ops.TiedDense: (tied_forward, tied_backward)}

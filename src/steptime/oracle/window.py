"""Convolution and pooling, by views of sliding windows; backward by adding each window position back."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from steptime.models.ops import AvgPool, Conv2d, MaxPool, Pair, Window
from steptime.oracle.kernel import Array, Context, Kernels, Weights

Pads = tuple[Pair, Pair]


def pad(x: Array, pads: Pads, value: float = 0.0) -> Array:
    return np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value) if any(map(any, pads)) else x


def windows(x: Array, size: Pair, kernel: Pair, strides: Pair, dilation: Pair) -> Array:
    """(batch, out height, out width, kernel height, kernel width, channels), without a copy."""
    n, h, w, c = x.strides
    shape = (x.shape[0], *size, *kernel, x.shape[3])
    steps = (n, h * strides[0], w * strides[1], h * dilation[0], w * dilation[1], c)
    return np.lib.stride_tricks.as_strided(x, shape, steps, writeable=False)


def scatter(target: Array, patches: Array, strides: Pair, dilation: Pair) -> None:
    """Adds each kernel position of `patches` (as `windows` lays them out) to where it came from."""
    height, width = patches.shape[1:3]
    for i in range(patches.shape[3]):
        for j in range(patches.shape[4]):
            top, left = i * dilation[0], j * dilation[1]
            rows = slice(top, top + (height - 1) * strides[0] + 1, strides[0])
            columns = slice(left, left + (width - 1) * strides[1] + 1, strides[1])
            target[:, rows, columns] += patches[:, :, :, i, j]


def crop(x: Array, pads: Pads, height: int, width: int) -> Array:
    return x[:, pads[0][0] : pads[0][0] + height, pads[1][0] : pads[1][0] + width]


def conv_forward(op: Conv2d, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    size, kernel, strides, dilation, pads = op.window(x.shape[1:])
    padded = pad(x, pads)
    view = windows(padded, size, kernel, strides, dilation)
    outs = []
    for group, weights in enumerate(np.split(p["kernel"], op.groups, axis=3)):
        channels = weights.shape[2]
        part = view[..., group * channels : (group + 1) * channels]
        columns = part.reshape(x.shape[0] * size[0] * size[1], -1)
        outs.append((columns @ weights.reshape(-1, weights.shape[3])).reshape(x.shape[0], *size, -1))
    y = np.concatenate(outs, axis=3)
    if op.bias:
        y += p["bias"]
    return y, (x.shape, padded)


def conv_backward(op: Conv2d, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    shape, padded = saved
    size, kernel, strides, dilation, pads = op.window(shape[1:])
    view = windows(padded, size, kernel, strides, dilation)
    dx = np.zeros_like(padded)
    dkernels = []
    for group, (weights, part) in enumerate(zip(np.split(p["kernel"], op.groups, axis=3), np.split(dy, op.groups, axis=3))):
        channels = slice(group * weights.shape[2], (group + 1) * weights.shape[2])
        columns = view[..., channels].reshape(shape[0] * size[0] * size[1], -1)
        flat = part.reshape(columns.shape[0], -1)
        dkernels.append((columns.T @ flat).reshape(weights.shape))
        patches = (flat @ weights.reshape(-1, weights.shape[3]).T).reshape(shape[0], *size, *kernel, -1)
        scatter(dx[..., channels], patches, strides, dilation)
    grads = {"kernel": np.concatenate(dkernels, axis=3)}
    if op.bias:
        grads["bias"] = dy.sum((0, 1, 2))
    return [crop(dx, pads, shape[1], shape[2])], grads


def overhang(op: Window, x: Array) -> tuple[Pair, Pair, Pair, Pads]:
    """Geometry with the padding that windows hanging over the edge (ceil mode) need."""
    size, kernel, strides, _, pads = op.window(x.shape[1:])
    reach = [(size[i] - 1) * strides[i] + kernel[i] - x.shape[1 + i] - pads[i][0] for i in (0, 1)]
    full = ((pads[0][0], max(pads[0][1], reach[0])), (pads[1][0], max(pads[1][1], reach[1])))
    return size, kernel, strides, full


def max_forward(op: MaxPool, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    size, kernel, strides, pads = overhang(op, x)
    view = windows(pad(x, pads, -np.inf), size, kernel, strides, (1, 1))
    flat = view.reshape(*view.shape[:3], -1, x.shape[3])
    where = flat.argmax(3)
    return np.take_along_axis(flat, where[:, :, :, None], 3)[:, :, :, 0], (x.shape, where)


def max_backward(op: MaxPool, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    shape, where = saved
    _, kernel, strides, pads = overhang(op, np.empty(shape, np.bool_))
    patches = np.zeros((*dy.shape[:3], kernel[0] * kernel[1], dy.shape[3]), dy.dtype)
    np.put_along_axis(patches, where[:, :, :, None], dy[:, :, :, None], 3)
    return [_unpool(patches.reshape(*dy.shape[:3], *kernel, dy.shape[3]), shape, pads, strides)], {}


def avg_forward(op: AvgPool, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    size, kernel, strides, pads = overhang(op, x)
    view = windows(pad(x, pads), size, kernel, strides, (1, 1))
    return view.sum((3, 4)) / _counts(op, x).astype(x.dtype), (x.shape, _counts(op, x))


def avg_backward(op: AvgPool, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    shape, counts = saved
    _, kernel, strides, pads = overhang(op, np.empty(shape, np.bool_))
    share = (dy / counts.astype(dy.dtype))[:, :, :, None, None]
    return [_unpool(np.broadcast_to(share, (*dy.shape[:3], *kernel, dy.shape[3])), shape, pads, strides)], {}


def _counts(op: AvgPool, x: Array) -> Array:
    """How many pixels each window averages. Padding counts if the operator says so; what hangs over never does."""
    size, kernel, strides, full = overhang(op, x)
    pads = op.window(x.shape[1:])[4]
    inside = np.ones((1, *x.shape[1:3], 1))
    if op.count_padding:
        inside = pad(inside, pads, 1.0)
        full = ((0, full[0][1] - pads[0][1]), (0, full[1][1] - pads[1][1]))
    counts: Array = windows(pad(inside, full), size, kernel, strides, (1, 1)).sum((3, 4))
    return counts


def _unpool(patches: Array, shape: tuple[int, ...], pads: Pads, strides: Pair) -> Array:
    target = np.zeros((shape[0], shape[1] + sum(pads[0]), shape[2] + sum(pads[1]), shape[3]), patches.dtype)
    scatter(target, patches, strides, (1, 1))
    return crop(target, pads, shape[1], shape[2])


KERNELS: Kernels = {
    Conv2d: (conv_forward, conv_backward),
    MaxPool: (max_forward, max_backward),
    AvgPool: (avg_forward, avg_backward),
}

"""Convolution and pooling, by views of sliding windows; backward by adding each window position back."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from steptime.core.models import ops
from steptime.core.reference.kernel import Array, Context, Kernels, Weights

Pads = tuple[ops.Pair, ops.Pair]


def pad(x: Array, pads: Pads, value: float = 0.0) -> Array:
    return np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value) if any(map(any, pads)) else x


def windows(x: Array, size: ops.Pair, kernel: ops.Pair, strides: ops.Pair, dilation: ops.Pair) -> Array:
    """(batch, out height, out width, kernel height, kernel width, channels), without a copy."""
    n, h, w, c = x.strides
    shape = (x.shape[0], *size, *kernel, x.shape[3])
    steps = (n, h * strides[0], w * strides[1], h * dilation[0], w * dilation[1], c)
    return np.lib.stride_tricks.as_strided(x, shape, steps, writeable=False)


def scatter(target: Array, patches: Array, strides: ops.Pair, dilation: ops.Pair) -> None:
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


def taps(op: ops.Conv2d, x: Array, size: ops.Pair) -> list[tuple[tuple[int, int], tuple[slice, slice, slice]]]:
    """For each position of the kernel: where all windows find it in the padded image."""
    _, kernel, strides, dilation, _ = op.window(x.shape[1:])
    positions = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            rows = slice(top, top + (size[0] - 1) * strides[0] + 1, strides[0])
            columns = slice(left, left + (size[1] - 1) * strides[1] + 1, strides[1])
            positions.append(((i, j), (slice(None), rows, columns)))
    return positions


def is_depthwise(op: ops.Conv2d, x: Array) -> bool:
    """One input and one output channel in each group: a product by element, for which groups in a loop are too slow."""
    return bool(op.groups == op.filters == x.shape[3])


def depthwise_forward(op: ops.Conv2d, kernel: Array, x: Array) -> Array:
    size, _, _, _, pads = op.window(x.shape[1:])
    padded = pad(x, pads)
    y = np.zeros((x.shape[0], *size, x.shape[3]), x.dtype)
    for (i, j), where in taps(op, x, size):
        y += padded[where] * kernel[i, j, 0]
    return y


def depthwise_backward(op: ops.Conv2d, kernel: Array, x: Array, dy: Array) -> tuple[Array, Array]:
    """The gradients of the image and of the kernel."""
    size, _, _, _, pads = op.window(x.shape[1:])
    padded = pad(x, pads)
    dx, dkernel = np.zeros_like(padded), np.zeros_like(kernel)
    for (i, j), where in taps(op, x, size):
        dkernel[i, j, 0] = (padded[where] * dy).sum((0, 1, 2))
        dx[where] += dy * kernel[i, j, 0]
    return crop(dx, pads, x.shape[1], x.shape[2]), dkernel


def conv_forward(op: ops.Conv2d, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    y = depthwise_forward(op, p["kernel"], x) if is_depthwise(op, x) else grouped_forward(op, p["kernel"], x)
    if op.bias:
        y += p["bias"]
    return y, x


def conv_backward(op: ops.Conv2d, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    back = depthwise_backward if is_depthwise(op, saved) else grouped_backward
    dx, dkernel = back(op, p["kernel"], saved, dy)
    grads = {"kernel": dkernel}
    if op.bias:
        grads["bias"] = dy.sum((0, 1, 2))
    return [dx], grads


def grouped_forward(op: ops.Conv2d, kernel: Array, x: Array) -> Array:
    size, shape, strides, dilation, pads = op.window(x.shape[1:])
    view = windows(pad(x, pads), size, shape, strides, dilation)
    outs = []
    for group, weights in enumerate(np.split(kernel, op.groups, axis=3)):
        channels = weights.shape[2]
        part = view[..., group * channels : (group + 1) * channels]
        columns = part.reshape(x.shape[0] * size[0] * size[1], -1)
        outs.append((columns @ weights.reshape(-1, weights.shape[3])).reshape(x.shape[0], *size, -1))
    return np.concatenate(outs, axis=3) if len(outs) > 1 else outs[0]


def grouped_backward(op: ops.Conv2d, kernel: Array, x: Array, dy: Array) -> tuple[Array, Array]:
    """The gradients of the image and of the kernel."""
    size, shape, strides, dilation, pads = op.window(x.shape[1:])
    padded = pad(x, pads)
    view = windows(padded, size, shape, strides, dilation)
    dx = np.zeros_like(padded)
    dkernels = []
    for group, (weights, part) in enumerate(zip(np.split(kernel, op.groups, axis=3), np.split(dy, op.groups, axis=3))):
        channels = slice(group * weights.shape[2], (group + 1) * weights.shape[2])
        columns = view[..., channels].reshape(x.shape[0] * size[0] * size[1], -1)
        flat = part.reshape(columns.shape[0], -1)
        dkernels.append((columns.T @ flat).reshape(weights.shape))
        patches = (flat @ weights.reshape(-1, weights.shape[3]).T).reshape(x.shape[0], *size, *shape, -1)
        scatter(dx[..., channels], patches, strides, dilation)
    return crop(dx, pads, x.shape[1], x.shape[2]), np.concatenate(dkernels, axis=3)


def overhang(op: ops.Window, x: Array) -> tuple[ops.Pair, ops.Pair, ops.Pair, Pads]:
    """Geometry with the padding that windows hanging over the edge (ceil mode) need."""
    size, kernel, strides, _, pads = op.window(x.shape[1:])
    reach = [(size[i] - 1) * strides[i] + kernel[i] - x.shape[1 + i] - pads[i][0] for i in (0, 1)]
    full = ((pads[0][0], max(pads[0][1], reach[0])), (pads[1][0], max(pads[1][1], reach[1])))
    return size, kernel, strides, full


def max_forward(op: ops.MaxPool, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    size, kernel, strides, pads = overhang(op, x)
    view = windows(pad(x, pads, -np.inf), size, kernel, strides, (1, 1))
    flat = view.reshape(*view.shape[:3], -1, x.shape[3])
    where = flat.argmax(3)
    return np.take_along_axis(flat, where[:, :, :, None], 3)[:, :, :, 0], (x.shape, where)


def max_backward(op: ops.MaxPool, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    shape, where = saved
    _, kernel, strides, pads = overhang(op, np.empty(shape, np.bool_))
    patches = np.zeros((*dy.shape[:3], kernel[0] * kernel[1], dy.shape[3]), dy.dtype)
    np.put_along_axis(patches, where[:, :, :, None], dy[:, :, :, None], 3)
    return [_unpool(patches.reshape(*dy.shape[:3], *kernel, dy.shape[3]), shape, pads, strides)], {}


def avg_forward(op: ops.AvgPool, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    (x,) = xs
    size, kernel, strides, pads = overhang(op, x)
    view = windows(pad(x, pads), size, kernel, strides, (1, 1))
    return view.sum((3, 4)) / _counts(op, x).astype(x.dtype), (x.shape, _counts(op, x))


def avg_backward(op: ops.AvgPool, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    shape, counts = saved
    _, kernel, strides, pads = overhang(op, np.empty(shape, np.bool_))
    share = (dy / counts.astype(dy.dtype))[:, :, :, None, None]
    return [_unpool(np.broadcast_to(share, (*dy.shape[:3], *kernel, dy.shape[3])), shape, pads, strides)], {}


def _counts(op: ops.AvgPool, x: Array) -> Array:
    """How many pixels each window averages. Padding counts if the operator says so; what hangs over never does."""
    size, kernel, strides, full = overhang(op, x)
    pads = op.window(x.shape[1:])[4]
    inside = np.ones((1, *x.shape[1:3], 1))
    if op.count_padding:
        inside = pad(inside, pads, 1.0)
        full = ((0, full[0][1] - pads[0][1]), (0, full[1][1] - pads[1][1]))
    counts: Array = windows(pad(inside, full), size, kernel, strides, (1, 1)).sum((3, 4))
    return counts


def _unpool(patches: Array, shape: tuple[int, ...], pads: Pads, strides: ops.Pair) -> Array:
    target = np.zeros((shape[0], shape[1] + sum(pads[0]), shape[2] + sum(pads[1]), shape[3]), patches.dtype)
    scatter(target, patches, strides, (1, 1))
    return crop(target, pads, shape[1], shape[2])


def pad_forward(op: ops.Pad, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    inner, outer = _pad_regions(op, xs[0].shape)
    y = np.zeros((xs[0].shape[0], *op.output_shape(xs[0].shape[1:])), xs[0].dtype)
    y[outer] = xs[0][inner]
    return y, xs[0].shape


def pad_backward(op: ops.Pad, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    inner, outer = _pad_regions(op, saved)
    dx = np.zeros(saved, dy.dtype)
    dx[inner] = dy[outer]
    return [dx], {}


def _pad_regions(op: ops.Pad, shape: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """What is kept of the input, and where it lies in the output."""
    inner, outer = [slice(None)], [slice(None)]
    for size, (before, after) in zip(shape[1:], op.pads):
        kept = slice(max(-before, 0), size - max(-after, 0))
        inner.append(kept)
        outer.append(slice(max(before, 0), max(before, 0) + kept.stop - kept.start))
    return tuple(inner), tuple(outer)


KERNELS: Kernels = {
    ops.Conv2d: (conv_forward, conv_backward),
    ops.MaxPool: (max_forward, max_backward),
    ops.AvgPool: (avg_forward, avg_backward),
    ops.Pad: (pad_forward, pad_backward),
}

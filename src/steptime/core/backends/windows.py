"""What frameworks need to know of windows that move over an image, where their own padding cannot say what an operator means."""

from __future__ import annotations

from typing import Union

import numpy as np

from steptime.core.backends.base import Array
from steptime.core.models import ops


def reach(op: ops.Window, x: ops.Shape) -> tuple[ops.Pair, ops.Pair]:
    """The padding of rows and columns, with what windows that hang over the edge (ceil mode) need at the end."""
    size, kernel, strides, dilation, pads = op.window(x)
    spans = [(size[i] - 1) * strides[i] + (kernel[i] - 1) * dilation[i] + 1 for i in (0, 1)]
    ends = [max(pads[i][1], spans[i] - x[i] - pads[i][0]) for i in (0, 1)]
    return (pads[0][0], ends[0]), (pads[1][0], ends[1])


def window_counts(op: ops.AvgPool, x: ops.Shape) -> Array:
    """How many pixels each window averages. Padding counts if the operator says so; what hangs over the edge never does."""
    size, kernel, strides, _, pads = op.window(x)
    axes = []
    for i in (0, 1):
        low, high = (-pads[i][0], x[i] + pads[i][1]) if op.count_padding else (0, x[i])
        begins = np.arange(size[i]) * strides[i] - pads[i][0]
        axes.append(np.minimum(begins + kernel[i], high) - np.maximum(begins, low))
    counts: Array = np.outer(*axes).astype(np.float64)
    return counts


def padding_of(op: ops.Window, x: ops.Shape) -> Union[str, list[list[int]]]:
    """In TensorFlow's terms: 'VALID' or 'SAME' where that is what the operator means, for they have the fastest kernels;
    else the pixels before and after each axis of a batch of images."""
    _, kernel, strides, dilation, _ = op.window(x)
    pads = reach(op, x)
    if pads == ((0, 0), (0, 0)):
        return "VALID"
    if pads == ops.resolve_padding("same", (x[0], x[1]), kernel, strides, dilation):
        return "SAME"
    return four(*pads)


def four(rows: ops.Pair, columns: ops.Pair, channels: ops.Pair = (0, 0)) -> list[list[int]]:
    return [[0, 0], [*rows], [*columns], [*channels]]


def is_depthwise(op: ops.Op, x: ops.Shape) -> bool:
    return isinstance(op, ops.Conv2d) and op.groups > 1 and op.groups == x[-1]

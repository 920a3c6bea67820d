"""What frameworks need to know whose images have their channels first: the graph's have them last."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from steptime.core.backends.base import Array
from steptime.core.backends.translate import Change, same
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

CONV_KERNEL: tuple[Change, Change] = (lambda a: a.transpose(3, 2, 0, 1), lambda a: a.transpose(2, 3, 1, 0))
"""a convolution's kernel from (height, width, in, out) to (out, in, height, width), and back"""


def to_channels_first(batch: Array) -> Array:
    """A batch of images with the channels before the pixels; anything else as it is."""
    return batch.transpose(0, 3, 1, 2) if batch.ndim == 4 else batch


def to_channels_last(batch: Array) -> Array:
    return batch.transpose(0, 2, 3, 1) if batch.ndim == 4 else batch


def shape_first(shape: ops.Shape) -> ops.Shape:
    """Of one sample."""
    return (shape[2], shape[0], shape[1]) if len(shape) == 3 else shape


def channel_axis(shape: ops.Shape) -> int:
    """Of a batch of samples of this shape."""
    return 1 if len(shape) == 3 else len(shape)


def row_orders(graph: Graph) -> dict[str, Array]:
    """For nodes whose values a contiguous (channels first) layout leaves in another order than the graph's: that order.

    A flatten whose values only reach dense layers costs nothing: the rows of their weights are reordered instead.
    """
    orders: dict[str, Array] = {}
    for node in graph.nodes:
        if isinstance(node.op, ops.Flatten) and len(graph.input_shapes(node)[0]) == 3:
            reached = _reach(graph, node)
            if reached is not None:
                shape = graph.input_shapes(node)[0]
                order = np.arange(math.prod(shape)).reshape(shape).transpose(2, 0, 1).reshape(-1)
                orders.update(dict.fromkeys(reached, order))
    return orders


def _reach(graph: Graph, node: Node) -> Optional[list[str]]:
    """The nodes from `node` on that keep its order until dense layers end it; None if anything else needs the order."""
    names = [node.name]
    if node.name == graph.output:
        return None
    for user in graph.consumers[node.name]:
        if isinstance(user.op, (ops.Activation, ops.Dropout)):
            further = _reach(graph, user)
            if further is None:
                return None
            names += further
        elif not isinstance(user.op, ops.Dense):
            return None
    return names


def dense_rows(order: Optional[Array]) -> tuple[Change, Change]:
    """A dense layer's kernel from the graph's order of its rows to the given one, and back."""
    if order is None:
        return same, same
    back = np.argsort(order)
    return lambda a: a[order], lambda a: a[back]


def dense_kernel(order: Optional[Array]) -> tuple[Change, Change]:
    """The same for a framework that keeps it as (out, in)."""
    forth, back = dense_rows(order)
    return lambda a: forth(a).T, lambda a: back(a.T)


def ceil_reaches(op: ops.Pool, x: ops.Shape) -> bool:
    """Whether uneven padding, more at the end, is the same as rounding the output size up: that needs no padded copy."""
    size, kernel, strides, _, pads = op.window(x)
    counted = isinstance(op, ops.AvgPool) and op.count_padding
    rounded = (op._ceil_size(x[i], kernel[i], strides[i], (pads[i][0], pads[i][0])) for i in (0, 1))
    return not counted and tuple(rounded) == size

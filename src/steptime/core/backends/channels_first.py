"""What frameworks need to know whose images have their channels first: the graph's have them last."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

Array = np.ndarray[Any, Any]
Change = Callable[[Array], Array]


def row_orders(graph: Graph) -> dict[str, Array]:
    """For nodes whose values a contiguous (channels first) layout leaves in another order than the graph's: that order.

    A flatten whose values only reach dense layers costs nothing: the rows of their weights are reordered instead.
    """
    found: dict[str, Array] = {}
    for node in graph.nodes:
        if isinstance(node.op, ops.Flatten) and len(graph.input_shapes(node)[0]) == 3:
            reached = _reach(graph, node)
            if reached is not None:
                shape = graph.input_shapes(node)[0]
                order = np.arange(math.prod(shape)).reshape(shape).transpose(2, 0, 1).reshape(-1)
                found.update(dict.fromkeys(reached, order))
    return found


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


def dense_kernel(order: Optional[Array]) -> tuple[Change, Change]:
    """The ways of a dense layer's kernel to (out, in), as most frameworks keep it, its rows in their new order, and back."""
    if order is None:
        return np.transpose, np.transpose
    back = np.argsort(order)
    return lambda a: a[order].T, lambda a: a.T[back]


def ceil_reaches(op: ops.Pool, x: ops.Shape) -> bool:
    """Whether uneven padding, more at the end, is the same as rounding the output size up: that needs no padded copy."""
    size, kernel, strides, _, pads = op.window(x)
    counted = isinstance(op, ops.AvgPool) and op.count_padding
    rounded = (op._ceil_size(x[i], kernel[i], strides[i], (pads[i][0], pads[i][0])) for i in (0, 1))
    return not counted and tuple(rounded) == size

"""What a layer in PyTorch is, and what it must know to be built."""

from __future__ import annotations

from typing import Any, Callable, Optional

from steptime.core.backends.base import Array
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

INPLACE_SAFE = (ops.Conv2d, ops.BatchNorm, ops.Dense, ops.Add, ops.Concat)
"""what may be overwritten by the activation that alone uses it: backward does not need it"""

Arrays = tuple[Any, str, Callable[[Array], Array], Callable[[Array], Array]]


class Layer:
    """A torch module for one node, and how its arrays map to the graph's: name -> (owner, attribute, to torch, back)."""

    def __init__(self, module: Any, arrays: Optional[dict[str, Arrays]] = None) -> None:
        self.module = module
        self.arrays = arrays or {}


def same(array: Array) -> Array:
    return array


def function_module(function: Callable[..., Any]) -> Any:
    import torch

    class Function(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *xs: Any) -> Any:
            return function(*xs)

    return Function()


class Hint:
    """What a layer must know of its neighbours."""

    def __init__(self, graph: Graph, node: Node, channels_last: bool, orders: dict[str, Array], built: dict[str, Layer]) -> None:
        producer = graph.by_name[node.inputs[0]]
        self.inplace = isinstance(producer.op, INPLACE_SAFE) and len(graph.consumers[producer.name]) == 1
        self.row_order = orders.get(node.inputs[0])
        self.to_last = channels_last or node.name not in orders
        self.built = built
        """the layers before, for those that share a parameter of them"""

"""What a layer in PyTorch must know to be built."""

from __future__ import annotations

from typing import Any, Callable

from steptime.core.backends.base import Array
from steptime.core.backends.translate import Layer, Place
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

INPLACE_SAFE = (ops.Conv2d, ops.BatchNorm, ops.Dense, ops.Add, ops.Concat)
"""what may be overwritten by the activation that alone uses it: backward does not need it"""


class TorchPlace(Place):
    def __init__(self, graph: Graph, node: Node, built: dict[str, Layer], orders: dict[str, Array], channels_last: bool) -> None:
        super().__init__(graph, node, built, orders)
        self.to_last = channels_last or not self.keeps_order
        """whether a flatten must bring the channels to the end itself"""


def function_module(function: Callable[..., Any]) -> Any:
    import torch

    class Function(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *xs: Any) -> Any:
            return function(*xs)

    return Function()

"""What a layer in MXNet is, and what it must know to be built."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array
from steptime.core.backends.translate import Layer, Place
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node


class BlockPlace(Place):
    def __init__(
        self, graph: Graph, node: Node, built: dict[str, Layer], orders: dict[str, Array], batch: int, double: bool
    ) -> None:
        super().__init__(graph, node, built, orders)
        self.batch = batch
        self.double = double
        self.prefix = self.identifier + "_"
        """of the block's parameters and operators, as a trace shows them"""


def function_block(
    place: BlockPlace,
    function: Callable[..., Any],
    shapes: Optional[dict[str, ops.Shape]] = None,
    constants: Optional[dict[str, Any]] = None,
    shared: Optional[dict[str, Any]] = None,
) -> Any:
    """A block that computes function(F, inputs.., its arrays by name): parameters, constants, and parameters of others."""
    from mxnet import gluon

    class Function(gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(prefix=place.prefix)
            with self.name_scope():
                for name, shape in (shapes or {}).items():
                    setattr(self, name, self.params.get(name, shape=shape))
                for name, value in (constants or {}).items():
                    setattr(self, name, self.params.get_constant(name, np.asarray(value, np.float64)))
            for name, parameter in (shared or {}).items():
                setattr(self, name, parameter)

        def hybrid_forward(self, F: Any, *xs: Any, **arrays: Any) -> Any:
            return function(F, *xs, **arrays)

    return Function()


def function_layer(place: BlockPlace, function: Callable[..., Any]) -> Layer:
    return Layer(function_block(place, function))

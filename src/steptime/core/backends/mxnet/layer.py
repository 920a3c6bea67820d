"""What a layer in MXNet is, and what it must know to be built."""

from __future__ import annotations

import re
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from steptime.core.backends.base import Array
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

Change = Callable[[Array], Array]


def same(array: Array) -> Array:
    return array


class Link(NamedTuple):
    """Where one of the graph's arrays lies in MXNet, and the ways there and back."""

    parameter: Any
    forth: Change = same
    back: Change = same


class Layer:
    """A Gluon block for one node, and the links of its arrays by their names."""

    def __init__(self, block: Any, links: Optional[dict[str, Link]] = None) -> None:
        self.block = block
        self.links = links or {}


class Site:
    """Where a layer is built: its operator, the shapes of its inputs, and what it must know of the rest."""

    def __init__(
        self, graph: Graph, node: Node, batch: int, double: bool, orders: dict[str, Array], built: dict[str, Layer]
    ) -> None:
        self.op: Any = node.op
        self.shapes: tuple[ops.Shape, ...] = graph.input_shapes(node)
        self.batch = batch
        self.double = double
        self.prefix = re.sub(r"\W", "_", node.name) + "_"
        """of the block's parameters and operators, as a trace shows them"""
        self.row_order = orders.get(node.inputs[0])
        self.keeps_order = node.name in orders
        self.built = built
        """the layers before, for those that share a parameter of them"""


def function_block(
    site: Site,
    function: Callable[..., Any],
    shapes: Optional[dict[str, ops.Shape]] = None,
    constants: Optional[dict[str, Any]] = None,
    shared: Optional[dict[str, Any]] = None,
) -> Any:
    """A block that computes function(F, inputs.., its arrays by name): parameters, constants, and parameters of others."""
    from mxnet import gluon

    class Function(gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(prefix=site.prefix)
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


def function_layer(site: Site, function: Callable[..., Any]) -> Layer:
    return Layer(function_block(site, function))

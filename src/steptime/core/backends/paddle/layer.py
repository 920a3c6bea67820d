"""What a layer in Paddle is, and what it must know to be built."""

from __future__ import annotations

from typing import Any, Callable, Optional

from steptime.core.backends.base import Array
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node
from steptime.core.schema import Case

Arrays = tuple[Any, str, Callable[[Array], Array], Callable[[Array], Array]]


class Layer:
    """A paddle.nn.Layer for one node, and how its arrays map to the graph's: name -> (owner, attribute, to paddle, back)."""

    def __init__(self, module: Any, arrays: Optional[dict[str, Arrays]] = None) -> None:
        self.module = module
        self.arrays = arrays or {}


class Place:
    """Where a layer is built: its operator, the shapes of its inputs, the layers before, the case."""

    def __init__(self, graph: Graph, node: Node, case: Case, orders: dict[str, Array], built: dict[str, Layer]) -> None:
        self.op: Any = node.op
        self.shapes: tuple[ops.Shape, ...] = graph.input_shapes(node)
        self.batch, self.training = case.batch, case.phase == "training"
        self.row_order = orders.get(node.inputs[0])
        """the order in which a flatten before left the values, if not the graph's"""
        self.to_last = node.name not in orders
        """whether a flatten must bring the channels to the end itself"""
        self.built = built


def same(array: Array) -> Array:
    return array


def function_layer(function: Callable[..., Any], **constants: Any) -> Layer:
    """A layer without parameters of its own. `constants` (tensors, or parameters of other layers) come after its inputs:
    only what is registered with a layer can be traced.
    """
    import paddle

    class Function(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, tensor in constants.items():
                if isinstance(tensor, paddle.base.framework.EagerParamBase):
                    self.add_parameter(name, tensor)
                else:
                    self.register_buffer(name, tensor, persistable=True)

        def forward(self, *xs: Any) -> Any:
            return function(*xs, *[getattr(self, name) for name in constants])

    return Layer(Function())


def learned(name: str, shape: ops.Shape, function: Callable[..., Any], **constants: Any) -> Layer:
    """A layer with one parameter, which the function gets after its inputs."""
    import paddle

    parameter = paddle.create_parameter(list(shape), paddle.get_default_dtype())
    layer = function_layer(function, weight=parameter, **constants)
    layer.arrays = {name: (layer.module, "weight", same, same)}
    return layer

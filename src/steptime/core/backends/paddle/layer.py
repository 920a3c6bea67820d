"""What a layer in Paddle is, and what it must know to be built."""

from __future__ import annotations

from typing import Any, Callable

from steptime.core.backends.base import Array
from steptime.core.backends.translate import Layer, Link, Place
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node
from steptime.core.schema import Case, Phase


class CasePlace(Place):
    """With the batch and the phase of the case."""

    def __init__(self, graph: Graph, node: Node, built: dict[str, Layer], orders: dict[str, Array], case: Case) -> None:
        super().__init__(graph, node, built, orders)
        self.batch, self.training = case.batch, case.phase == Phase.TRAINING


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
    layer.links = {name: Link((layer.module, "weight"))}
    return layer

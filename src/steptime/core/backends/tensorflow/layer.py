"""What a layer in TensorFlow is: a function of tensors, made from a node and its variables."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Callable

from steptime.core.backends.translate import Place
from steptime.core.models.graph import Graph, Node
from steptime.core.schema import Case

Layer = Callable[..., Any]
"""pass, inputs -> output"""


class Pass:
    """One forward pass: its mode, and the number of the step, from which dropout draws."""

    def __init__(self, training: bool, step: Any) -> None:
        self.training, self.step = training, step


class VariablePlace(Place):
    """With the variables of a node, and the type that it computes in."""

    def __init__(self, graph: Graph, node: Node, case: Case, variables: Mapping[str, Any], dtype: Any) -> None:
        super().__init__(graph, node)
        self.case, self.dtype = case, dtype
        self.seed = (case.seed * 0x9E3779B1 + zlib.crc32(node.name.encode())) & 0x7FFFFFFF
        self.variables = {own: variables[name] for own, name in graph.array_names(node).items()}

    def weight(self, name: str) -> Any:
        """The variable's value in the type that is computed in; where that is narrower, the variable keeps all its digits."""
        return self.cast(self.variables[name])

    def cast(self, value: Any) -> Any:
        import tensorflow as tf

        return value if value.dtype == self.dtype else tf.cast(value, self.dtype)

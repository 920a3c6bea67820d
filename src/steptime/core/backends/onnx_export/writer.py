"""Collects the nodes and constants of an ONNX model while a graph is translated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steptime.core.backends.base import Array, Weights
from steptime.core.backends.translate import Change, same
from steptime.core.models.graph import Graph, Node


class Writer:
    """Collects ONNX nodes and constants; names of values are the graph's, with a suffix for what lies inside a node."""

    def __init__(self, graph: Graph, weights: Weights, batch: int, dtype: Any) -> None:
        self.graph, self.batch, self.dtype = graph, batch, dtype
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self._weights = weights

    def weight(self, node: Node, name: str, change: Change = same) -> str:
        """The constant that holds a parameter of a node or one that it shares, once."""
        full = self.graph.shared(node).get(name, f"{node.name}/{name}")
        if full not in self.constants:
            array = self._weights[full].astype(self.dtype)
            self.constants[full] = np.ascontiguousarray(change(array))
        return full

    def array(self, node: Node, name: str) -> Array:
        return self._weights[f"{node.name}/{name}"].astype(np.float64)

    def constant(self, node: Node, name: str, value: Any, dtype: Any = None) -> str:
        full = f"{node.name}:{name}"
        self.constants[full] = np.asarray(value, dtype or self.dtype)
        return full

    def shape(self, node: Node, name: str, *sizes: int) -> str:
        return self.constant(node, name, sizes, np.int64)

    def __call__(self, kind: str, node: Node, inputs: Sequence[str], part: str = "", **attributes: Any) -> str:
        """Adds an ONNX node; `part` names what is not yet the result of the graph's node."""
        from onnx import helper

        out = f"{node.name}:{part}" if part else f"{node.name}:out"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], out, **attributes))
        return out

"""From a graph to a framework's code: what every backend does in the same way.

A backend has one OperatorTable. Each entry is a function that translates an operator, marked `@TABLE.entry(ops.Conv2d)`.
Which arguments it takes depends on how its framework works:

- the framework has layers (PyTorch, TensorFlow, Keras, MXNet, Paddle): the entry takes a Place and returns a layer.
  `build_layers` makes them all, and `walk` connects or calls them;
- the framework has functions of arrays (JAX, tinygrad): the entry takes the arrays and returns an array; `walk` calls it;
- the framework reads a file (Caffe, ONNX): the entry writes the nodes of that file and returns the name of the output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional, TypeVar

from steptime.core.backends.base import Array
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

Change = Callable[[Array], Array]
Entry = TypeVar("Entry", bound=Callable[..., Any])
Value = TypeVar("Value")


class OperatorTable(dict[type, Callable[..., Any]]):
    """From the class of an operator to the function that translates it. `framework` is named where one is missing."""

    def __init__(self, framework: str, *others: OperatorTable) -> None:
        """Begins with the entries of the others."""
        super().__init__()
        self.framework = framework
        for other in others:
            self.update(other)

    def entry(self, *operators: type) -> Callable[[Entry], Entry]:
        """A decorator: the function translates these operators."""

        def enter(function: Entry) -> Entry:
            self.update(dict.fromkeys(operators, function))
            return function

        return enter

    def lacking(self, graph: Graph) -> list[str]:
        """The graph's operators that are not in the table, by name."""
        return sorted({type(node.op).__name__ for node in graph.nodes[1:] if type(node.op) not in self})

    def check(self, graph: Graph) -> None:
        lacking = self.lacking(graph)
        if lacking:
            raise Unsupported(f"{self.framework} has no operator {', '.join(lacking)}")


class Place:
    """A node of a graph as the function that translates it sees it. Frameworks add what else they need to know."""

    def __init__(
        self, graph: Graph, node: Node, built: Optional[Mapping[str, Any]] = None, orders: Optional[Mapping[str, Array]] = None
    ) -> None:
        self.graph, self.node, self.name = graph, node, node.name
        self.identifier = identifier(node.name)
        self.op: Any = node.op
        self.shapes: tuple[ops.Shape, ...] = graph.input_shapes(node)
        self.built = built or {}
        """what the nodes before became, for those that share a parameter of them"""
        self.row_order = (orders or {}).get(node.inputs[0])
        """the order in which a flatten before left the values, if it is not the graph's (see channels_first.row_orders)"""
        self.keeps_order = node.name in (orders or {})
        """whether a flatten may leave the values in the framework's order"""

    def may_overwrite(self, kinds: tuple[type, ...]) -> bool:
        """Whether this node may write its output over its input: one of these kinds made it, and nothing else reads it."""
        producer = self.graph.by_name[self.node.inputs[0]]
        return len(self.graph.consumers[producer.name]) == 1 and isinstance(producer.op, kinds)


def same(array: Array) -> Array:
    return array


class Link(NamedTuple):
    """Where a framework keeps one of the graph's arrays, in the framework's own terms, and how it changes there and back."""

    target: Any
    to_framework: Change = same
    to_graph: Change = same


class Layer:
    """A framework's object for one node, and the links of the node's arrays by their names."""

    def __init__(self, module: Any, links: Optional[dict[str, Link]] = None) -> None:
        self.module = module
        self.links = links or {}


def all_links(layers: Mapping[str, Layer]) -> dict[str, Link]:
    """By the names of the graph's arrays: 'node/parameter'."""
    return {f"{node}/{name}": link for node, layer in layers.items() for name, link in layer.links.items()}


def build_layers(graph: Graph, table: OperatorTable, place: Callable[[Node, dict[str, Value]], Place]) -> dict[str, Value]:
    """The layer of each node by its name. `place` makes the Place of a node, given the layers before it."""
    table.check(graph)
    built: dict[str, Value] = {}
    for node in graph.nodes[1:]:
        built[node.name] = table[type(node.op)](place(node, built))
    return built


def walk(graph: Graph, first: Value, apply: Callable[[Node, list[Value]], Value]) -> Value:
    """The value of the graph's output, from that of its input: `apply` makes a node's value from those of its inputs."""
    values = {graph.input.name: first}
    for node in graph.nodes[1:]:
        values[node.name] = apply(node, [values[name] for name in node.inputs])
    return values[graph.output]


def identifier(name: str) -> str:
    """A node's name in the letters that an identifier may have."""
    return re.sub(r"\W", "_", name)

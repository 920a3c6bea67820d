"""A model as a list of named nodes in the order of computation; counts come from here, before any framework starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from steptime.core.errors import GraphError
from steptime.core.models.ops import Dropout, Input, Op, Parameter, Shape, Shared
from steptime.core.schema import Phase

LOSSES = ("cross_entropy", "l2")


class Facts(NamedTuple):
    """What an operator says of itself for given input shapes."""

    shape: Shape
    parameters: tuple[Parameter, ...]
    shared: tuple[Shared, ...]
    flops: int


@lru_cache(maxsize=65536)
def facts(op: Op, shapes: tuple[Shape, ...]) -> Facts:
    """Remembered, because deep models repeat a few layers hundreds of times. ValueError if the shapes do not fit."""
    if op.arity is not None and len(shapes) != op.arity:
        raise ValueError(f"takes {op.arity} input{'s' * (op.arity != 1)}, got {len(shapes)}")
    shape = op.output_shape(*shapes)
    if not shape or min(shape) < 1:
        raise ValueError(f"its output would have the shape {shape}")
    return Facts(shape, op.parameters(*shapes), op.shared(*shapes), op.flops(*shapes) if shapes else 0)


@dataclass(frozen=True)
class Node:
    name: str
    op: Op
    inputs: tuple[str, ...]
    shape: Shape
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Graph:
    """`loss` is cross_entropy (mean over all positions of integer labels) or l2 (half the sum of squares)."""

    name: str
    nodes: tuple[Node, ...]
    output: str
    loss: str = "cross_entropy"

    @cached_property
    def by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @property
    def input(self) -> Node:
        return self.nodes[0]

    @property
    def input_op(self) -> Input:
        op = self.nodes[0].op
        assert isinstance(op, Input)
        return op

    @property
    def output_shape(self) -> Shape:
        return self.by_name[self.output].shape

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """'node/parameter' to its description, running statistics included."""
        return {f"{n.name}/{p.name}": p for n in self.nodes for p in n.parameters}

    @cached_property
    def parameter_count(self) -> int:
        return sum(self.node_parameters(n) for n in self.nodes)

    @cached_property
    def flops_forward(self) -> int:
        return sum(self.node_flops(n) for n in self.nodes)

    @cached_property
    def flops_training(self) -> int:
        """Forward, and the products of the backward pass that are really needed: none for the gradient of the input."""
        needs: dict[str, bool] = {}
        total = 0
        for node in self.nodes:
            grads = tuple(needs[i] for i in node.inputs)
            shapes = self.input_shapes(node)
            known = facts(node.op, shapes)
            needs[node.name] = any(grads) or bool(known.shared) or any(p.trainable for p in node.parameters)
            total += known.flops
            if known.flops and needs[node.name]:
                total += node.op.backward_flops(grads, *shapes)
        return total

    def flops(self, phase: str) -> int:
        """For one sample."""
        return self.flops_training if phase == Phase.TRAINING else self.flops_forward

    @cached_property
    def activation_elements(self) -> int:
        """All outputs of all operators for one sample: what a training step has to keep at the most."""
        return sum(math.prod(n.shape) for n in self.nodes)

    def input_shapes(self, node: Node) -> tuple[Shape, ...]:
        return tuple(self.by_name[i].shape for i in node.inputs)

    def node_flops(self, node: Node) -> int:
        return facts(node.op, self.input_shapes(node)).flops

    def node_parameters(self, node: Node) -> int:
        return sum(p.size for p in node.parameters if p.trainable)

    def shared(self, node: Node) -> dict[str, str]:
        """The node's own names of parameters that others own, to their 'node/parameter'."""
        return {s.name: f"{s.node}/{s.parameter}" for s in facts(node.op, self.input_shapes(node)).shared}

    def array_names(self, node: Node) -> dict[str, str]:
        """The node's own names of its parameters, of those that it shares too, to their 'node/parameter'."""
        return {**{p.name: f"{node.name}/{p.name}" for p in node.parameters}, **self.shared(node)}

    @cached_property
    def consumers(self) -> dict[str, list[Node]]:
        consumers: dict[str, list[Node]] = {n.name: [] for n in self.nodes}
        for node in self.nodes:
            for name in node.inputs:
                consumers[name].append(node)
        return consumers

    def without_dropout(self) -> Graph:
        """For proofs of sameness: random masks differ between frameworks by right."""
        nodes = tuple(replace(n, op=replace(n.op, rate=0.0)) if isinstance(n.op, Dropout) else n for n in self.nodes)
        return replace(self, nodes=nodes)


def _verify_ends(graph: Graph, seen: Mapping[str, Node]) -> Graph:
    if graph.output not in seen:
        raise GraphError(f"{graph.name}: the output '{graph.output}' is not a node")
    if graph.loss not in LOSSES:
        raise GraphError(f"{graph.name}: unknown loss '{graph.loss}'; known: {', '.join(LOSSES)}")
    used = {graph.output}.union(*(n.inputs for n in graph.nodes))
    for node in graph.nodes:
        if node.name not in used:
            raise GraphError(f"{graph.name}: nothing uses node '{node.name}' ({type(node.op).__name__})")
    return graph


def _fit(graph: str, name: str, op: Op, shapes: tuple[Shape, ...], seen: Mapping[str, Node]) -> Facts:
    """What the operator says of itself as the next node after `seen`; GraphError if it does not fit there."""
    problem = ""
    if (not seen) != isinstance(op, Input):
        problem = "a graph has exactly one Input, its first node"
    elif name in seen or not name:
        problem = "the name is taken or empty"
    else:
        try:
            known = facts(op, shapes)
            problem = _sharing_problem(known.shared, seen) if known.shared else ""
        except ValueError as error:
            problem = str(error)
    if problem:
        raise GraphError(f"{graph}: node '{name}' ({type(op).__name__}): {problem}")
    return known


def _sharing_problem(shared: tuple[Shared, ...], seen: Mapping[str, Node]) -> str:
    for s in shared:
        owner = seen.get(s.node)
        shapes = {p.name: p.shape for p in owner.parameters} if owner else {}
        if s.parameter not in shapes:
            return f"it shares '{s.node}/{s.parameter}', which no earlier node owns"
        if shapes[s.parameter] != s.shape:
            return f"it shares '{s.node}/{s.parameter}' of shape {shapes[s.parameter]}, but needs {s.shape}"
    return ""


@dataclass
class Tensor:
    """A handle to a node's output while a graph is written."""

    name: str
    shape: Shape


@dataclass
class Net:
    """Writes a graph: `x = net(Conv2d(64, 3), x)`; errors name the node at once."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    _scope: list[str] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _names: dict[str, Node] = field(default_factory=dict)

    def __call__(self, op: Op, *inputs: Tensor, name: str = "") -> Tensor:
        name = self._name(name, op)
        known = _fit(self.name, name, op, tuple([t.shape for t in inputs]), self._names)
        node = Node(name, op, tuple([t.name for t in inputs]), known.shape, known.parameters)
        self.nodes.append(node)
        self._names[name] = node
        return Tensor(name, known.shape)

    def input(self, *shape: int, kind: str = "float", high: int = 0) -> Tensor:
        return self(Input(shape, kind, high), name="input")

    def scope(self, name: str) -> Scope:
        """`with net.scope('block1'):` puts 'block1.' before the names of the nodes written inside."""
        return Scope(self, name)

    def graph(self, output: Tensor, loss: str = "cross_entropy") -> Graph:
        """Every node was checked when it was written; what is left are the ends."""
        return _verify_ends(Graph(self.name, tuple(self.nodes), output.name, loss), self._names)

    def _name(self, name: str, op: Op) -> str:
        prefix = "".join(s + "." for s in self._scope)
        if name:
            return prefix + name
        stem = prefix + type(op).__name__.lower()
        self._counts[stem] = self._counts.get(stem, 0) + 1
        return f"{stem}{self._counts[stem]}"


@dataclass
class Scope:
    net: Net
    name: str

    def __enter__(self) -> None:
        self.net._scope.append(self.name)

    def __exit__(self, *_: object) -> None:
        self.net._scope.pop()

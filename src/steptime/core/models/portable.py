"""A graph as plain JSON, for workers that are not written in Python: graph.json of docs/worker-protocol.md."""

from __future__ import annotations

import dataclasses
from typing import Any

from steptime.core.models.graph import Graph, Node
from steptime.core.models.ops import Window

PORTABLE_VERSION = 1
GRAPH = "graph.json"
"""its name in a job's folder"""


def portable(graph: Graph) -> dict[str, Any]:
    """Everything that a worker needs to build the model and to say what a step costs."""
    return {
        "schema": PORTABLE_VERSION,
        "name": graph.name,
        "loss": graph.loss,
        "output": graph.output,
        "parameters": graph.parameter_count,
        "activation_elements": graph.activation_elements,
        "flops_per_sample": {"training": graph.flops_training, "inference": graph.flops_forward},
        "nodes": [_node(graph, node) for node in graph.nodes],
    }


def _node(graph: Graph, node: Node) -> dict[str, Any]:
    content: dict[str, Any] = {
        "name": node.name,
        "operator": type(node.op).__name__,
        "attributes": dataclasses.asdict(node.op),
        "inputs": list(node.inputs),
        "shape": list(node.shape),
        "parameters": [dataclasses.asdict(p) for p in node.parameters],
    }
    if isinstance(node.op, Window):
        size, kernel, strides, dilation, pads = node.op.window(*graph.input_shapes(node))
        content["window"] = {"size": size, "kernel": kernel, "strides": strides, "dilation": dilation, "padding": pads}
    shared = graph.shared(node)
    if shared:
        content["shared"] = shared
    return content

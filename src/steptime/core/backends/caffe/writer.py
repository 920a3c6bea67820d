"""Collects Caffe's layers while a graph is translated, and says where the graph's arrays lie among their blobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steptime.core.backends.base import Array
from steptime.core.backends.translate import Link
from steptime.core.models import ops
from steptime.core.models.graph import Graph

OVERWRITABLE = (ops.Conv2d, ops.Dense, ops.BatchNorm, ops.Add, ops.Concat, ops.MaxPool, ops.AvgPool)
"""operators whose backward pass needs their output no more: the next one may overwrite it"""


class Writer:
    def __init__(self, graph: Graph, batch: int) -> None:
        self.graph, self.batch = graph, batch
        self.layers: list[dict[str, Any]] = []
        self.links: dict[str, Link] = {}
        """of the graph's arrays to (layer, number of its blob)"""
        self.filled: dict[str, float] = {}
        """blobs that are given a constant once: the padding that Caffe's layers cannot do"""
        self.fixed: dict[str, Array] = {}
        """layers whose one blob is a constant that is not trained"""
        self.output = ""
        """the blob of the graph's output"""

    def __call__(self, kind: str, name: str, bottoms: Sequence[str], top: str, **fields: Any) -> str:
        self.layers.append({"name": name, "type": kind, "bottom": list(bottoms), "top": top, **fields})
        return top

    def input(self, name: str, shape: Sequence[int]) -> str:
        return self("Input", name, (), name, input_param={"shape": {"dim": list(shape)}})

    def padded(self, name: str, blob: str, shape: ops.Shape, pads: tuple[ops.Pair, ...], value: float = 0.0) -> str:
        """The blob with constants around it, joined axis by axis: (rows, columns, channels), as many as are given.

        Caffe has no layer that pads, and its windows pad both ends alike.
        """
        sizes = {1: shape[2], 2: shape[0], 3: shape[1]}
        for axis, (before, after) in zip((2, 3, 1), pads):
            parts = [blob]
            for side, width in (("before", before), ("after", after)):
                if width:
                    edge = self.input(
                        f"{name}/{side}{axis}", (self.batch, *(width if a == axis else sizes[a] for a in (1, 2, 3)))
                    )
                    self.filled[edge] = value
                    parts = [edge, blob] if side == "before" else [*parts, edge]
            if len(parts) > 1:
                blob = self("Concat", f"{name}/join{axis}", parts, f"{name}/join{axis}", concat_param={"axis": axis})
                sizes[axis] += before + after
        return blob

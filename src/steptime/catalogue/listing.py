"""The zoo as a list: what `steptime models` shows."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.core.models import ops, zoo


@dataclass(frozen=True)
class Entry:
    name: str
    family: str
    input: ops.Shape
    parameters: int
    flops_forward: int
    """for one sample"""
    year: int
    paper: str


def catalogue() -> list[Entry]:
    """Every model at its default size. All graphs are built for this, which takes about a tenth of a second."""
    entries = []
    for model in zoo.models().values():
        graph = model.build()
        counts = graph.parameter_count, graph.flops_forward
        entries.append(Entry(model.name, model.family, graph.input.shape, *counts, model.year, model.paper))
    return entries

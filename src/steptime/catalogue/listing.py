"""The zoo as a list: what `steptime models` shows and what docs/models.md holds."""

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
    found = []
    for model in zoo.models().values():
        graph = model.build()
        counts = graph.parameter_count, graph.flops_forward
        found.append(Entry(model.name, model.family, graph.input.shape, *counts, model.year, model.paper))
    return found


def markdown() -> str:
    lines = ["| model | family | input | parameters | GFLOPs forward | year | paper |", "|---|---|---|---:|---:|---|---|"]
    for e in catalogue():
        counts = f"{e.parameters:,} | {e.flops_forward / 1e9:.4g}"
        lines.append(f"| {e.name} | {e.family} | {' × '.join(map(str, e.input))} | {counts} | {e.year} | {e.paper} |")
    return "\n".join(lines) + "\n"

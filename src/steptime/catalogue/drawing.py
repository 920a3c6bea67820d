"""A model as a table of its layers, and as a drawing (SVG)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from steptime.catalogue.layout import layered
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node


@dataclass(frozen=True)
class Row:
    name: str
    operator: str
    shape: ops.Shape
    parameters: int
    flops: int
    """forward, for one sample"""


def layer_table(graph: Graph) -> list[Row]:
    return [Row(n.name, describe(n.op), n.shape, graph.node_parameters(n), graph.node_flops(n)) for n in graph.nodes]


def describe(op: ops.Op) -> str:
    """An operator in a few words: conv 3x3/2 64."""
    words = WORDS.get(type(op))
    return words(op) if words else type(op).__name__.lower()


def _conv(op: ops.Conv2d) -> str:
    kind = "conv" if op.groups == 1 else "depthwise" if op.groups == op.filters else f"conv in {op.groups} groups"
    return f"{kind} {_window(op.kernel, op.strides)} {op.filters}"


def _window(kernel: int | ops.Pair, strides: int | ops.Pair) -> str:
    (height, width), (down, right) = ops.pair(kernel), ops.pair(strides)
    step = "" if (down, right) == (1, 1) else f"/{down}" if down == right else f"/{down}x{right}"
    return f"{height}x{width}{step}"


def _attention(op: ops.Attention) -> str:
    groups = f" in {op.groups} groups" if op.groups != op.heads else ""
    return f"{'causal ' if op.causal else ''}attention, {op.heads} heads{groups}{', rotary' if op.rope_base else ''}"


WORDS: dict[type, Callable[..., str]] = {
    ops.Input: lambda op: f"indices below {op.high}" if op.kind == "int" else "values",
    ops.Conv2d: _conv,
    ops.MaxPool: lambda op: f"max pool {_window(op.kernel, op.strides)}",
    ops.AvgPool: lambda op: f"average pool {_window(op.kernel, op.strides)}",
    ops.GlobalAvgPool: lambda op: "global average pool",
    ops.Dense: lambda op: f"dense {op.units}",
    ops.TiedDense: lambda op: f"dense {op.units}, table of {op.embedding}",
    ops.BatchNorm: lambda op: "batch norm",
    ops.LayerNorm: lambda op: "layer norm",
    ops.RMSNorm: lambda op: "rms norm",
    ops.Activation: lambda op: op.kind.replace("_", " "),
    ops.Dropout: lambda op: f"dropout {op.rate:g}",
    ops.Scale: lambda op: f"times {op.factor:g}",
    ops.Embedding: lambda op: f"embedding {op.vocabulary} x {op.units}",
    ops.PositionEmbedding: lambda op: f"positions, {op.positions} learned",
    ops.SegmentEmbedding: lambda op: f"segment, {op.segments} learned",
    ops.ClassToken: lambda op: "class token",
    ops.Select: lambda op: f"position {op.index}",
    ops.Attention: _attention,
}

# group: its operators, fill, line
GROUPS: dict[str, tuple[tuple[type, ...], str, str]] = {
    "convolution": ((ops.Conv2d,), "#dbe9f6", "#3573b1"),
    "matrix product": ((ops.Dense, ops.TiedDense), "#dcefdc", "#3d8b40"),
    "attention": ((ops.Attention,), "#e8e0f3", "#7552ad"),
    "pool": ((ops.Pool, ops.GlobalAvgPool), "#fdebd3", "#c77a1c"),
    "join": ((ops.Add, ops.Multiply, ops.Concat), "#fbf3c4", "#a68a00"),
    "embedding": ((ops.Embedding, ops.PositionEmbedding, ops.SegmentEmbedding, ops.ClassToken), "#d8f0ef", "#1b8a84"),
    "other": ((ops.Op,), "#f0f0f2", "#73757c"),
}
MINOR = (ops.BatchNorm, ops.LayerNorm, ops.RMSNorm, ops.LRN, ops.Activation, ops.Dropout, ops.Scale, ops.Flatten)
"""drawn in one box with the operator before or after them"""

TEXT, LETTER, BOLD_LETTER = 11.0, 6.2, 7.0
PADDING, ROW_HEIGHT, LINE = 9.0, 84.0, 14.0
BOX_HEIGHT = 3 * LINE + 8
MARGIN, HEADER, SMALLEST_WIDTH = 28.0, 84.0, 380.0
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Box:
    """Nodes that follow each other and nothing else."""

    nodes: tuple[Node, ...]

    @property
    def lead(self) -> Node:
        """The node that the box is about."""
        return next((n for n in self.nodes if not isinstance(n.op, MINOR)), self.nodes[0])

    @property
    def lines(self) -> tuple[str, str, str]:
        shape = " × ".join(map(str, self.nodes[-1].shape))
        return self.lead.name, " · ".join(describe(n.op) for n in self.nodes), shape

    @property
    def width(self) -> float:
        name, words, shape = map(len, self.lines)
        return max(name * BOLD_LETTER, words * LETTER, shape * LETTER) + 2 * PADDING

    @property
    def group(self) -> str:
        return next(name for name, (kinds, _, _) in GROUPS.items() if isinstance(self.lead.op, kinds))


def boxes_of(graph: Graph) -> list[Box]:
    """Normalisation, activation and the like share a box with the one operator of weight beside them."""
    boxes: list[list[Node]] = []
    open_at: dict[str, list[Node]] = {}
    for node in graph.nodes:
        box = open_at.get(node.inputs[0]) if len(node.inputs) == 1 else None
        minor = isinstance(node.op, MINOR)
        if box is None or not (minor or all(isinstance(n.op, MINOR) for n in box)):
            box = []
            boxes.append(box)
        box.append(node)
        if len(graph.consumers[node.name]) == 1 and not isinstance(node.op, ops.Input):
            open_at[node.name] = box
    return [Box(tuple(box)) for box in boxes]


def svg(graph: Graph) -> str:
    """A standalone drawing from top to bottom."""
    boxes = boxes_of(graph)
    index = {n.name: i for i, box in enumerate(boxes) for n in box.nodes}
    edges = sorted({(index[i], b) for b, box in enumerate(boxes) for i in box.nodes[0].inputs})
    layout = layered([box.width for box in boxes], edges)
    groups = [name for name in GROUPS if any(box.group == name for box in boxes)]
    passing = [x for points in layout.lines.values() for x, _ in points]
    drawn = max([x + box.width / 2 for x, box in zip(layout.centres, boxes)] + passing)
    width = max(drawn, SMALLEST_WIDTH, sum(map(_legend_step, groups))) + 2 * MARGIN
    left = (width - drawn) / 2
    places = [(left + x, _top(rank)) for x, rank in zip(layout.centres, layout.ranks)]
    parts = [_header(graph, groups)]
    for (a, b), points in layout.lines.items():
        parts.append(_line([places[a], *((left + x, _top(rank)) for x, rank in points), places[b]]))
    parts += [_box(graph, box, *place) for box, place in zip(boxes, places)]
    return _document(graph, width, _top(max(layout.ranks) + 1), parts)


def _top(rank: int) -> float:
    return HEADER + rank * ROW_HEIGHT


def _document(graph: Graph, width: float, height: float, parts: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    arrow = '<path d="M0 0 L8 4 L0 8 z" fill="#8a8d96"/>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{escape(FONT)}" font-size="{TEXT:g}">',
            f"<title>{escape(graph.name)}</title>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f"{arrow}</marker></defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _header(graph: Graph, groups: list[str]) -> str:
    facts = f"{graph.parameter_count:,} parameters · {graph.flops_forward / 1e9:.4g} GFLOPs forward per sample"
    parts = [
        f'<text x="{MARGIN:g}" y="30" font-size="18" font-weight="600" fill="#1d1f24">{escape(graph.name)}</text>',
        f'<text x="{MARGIN:g}" y="48" fill="#5c5f66">{escape(facts)}</text>',
    ]
    x = MARGIN
    for name in groups:
        _, fill, line = GROUPS[name]
        parts.append(f'<rect x="{x:.0f}" y="58" width="11" height="11" rx="3" fill="{fill}" stroke="{line}"/>')
        parts.append(f'<text x="{x + 16:.0f}" y="68" fill="#5c5f66">{name}</text>')
        x += _legend_step(name)
    return "\n".join(parts)


def _legend_step(name: str) -> float:
    return 16 + len(name) * BOLD_LETTER + 12


def _line(points: list[tuple[float, float]]) -> str:
    """Through the gaps between ranks in curves, straight beside the boxes of the ranks that it passes."""
    x, y = points[0]
    path = [f"M{x:.1f} {y + BOX_HEIGHT:.1f}"]
    for i, (to_x, to_y) in enumerate(points[1:], 1):
        bend = (ROW_HEIGHT - BOX_HEIGHT) / 2
        begin = points[i - 1][1] + BOX_HEIGHT
        path.append(f"C{x:.1f} {begin + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}")
        if i < len(points) - 1:
            path.append(f"V{to_y + BOX_HEIGHT:.1f}")
        x = to_x
    return f'<path d="{" ".join(path)}" fill="none" stroke="#8a8d96" marker-end="url(#arrow)"/>'


def _box(graph: Graph, box: Box, x: float, y: float) -> str:
    _, fill, line = GROUPS[box.group]
    name, words, shape = box.lines
    place = f'x="{x - box.width / 2:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{BOX_HEIGHT:g}"'
    details = "\n".join(_details(graph, n) for n in box.nodes)
    return "\n".join(
        [
            f"<g><title>{escape(details)}</title>",
            f'<rect {place} rx="6" fill="{fill}" stroke="{line}"/>',
            _text(x, y + LINE + 1, name, '#1d1f24" font-weight="600'),
            _text(x, y + 2 * LINE + 1, words, "#1d1f24"),
            _text(x, y + 3 * LINE + 1, shape, "#5c5f66"),
            "</g>",
        ]
    )


def _text(x: float, y: float, text: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{escape(text)}</text>'


def _details(graph: Graph, node: Node) -> str:
    facts = f"{graph.node_parameters(node):,} parameters, {graph.node_flops(node) / 1e6:.4g} MFLOPs"
    return f"{node.name}: {describe(node.op)}, {' × '.join(map(str, node.shape))}, {facts}"

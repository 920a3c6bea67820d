"""The operators on sequences in ONNX: (batch, positions, width)."""

from __future__ import annotations

import math

import numpy as np

from steptime.core.backends.attention import rotation
from steptime.core.backends.onnx_export.writer import Writer
from steptime.core.backends.translate import OperatorTable, Place
from steptime.core.models import ops
from steptime.core.models.graph import Node

TABLE = OperatorTable("the ONNX export")


@TABLE.entry(ops.LayerNorm)
def layer_norm(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    learned: list[str] = [w.weight(node, "gamma"), w.weight(node, "beta")]
    return w("LayerNormalization", node, [*xs, *learned], epsilon=op.epsilon)


@TABLE.entry(ops.RMSNorm)
def rms_norm(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    squares = w("Mul", node, [*xs, *xs], "squares")
    mean = w("ReduceMean", node, [squares, w.shape(node, "axes", -1)], "mean", keepdims=1)
    root = w("Sqrt", node, [w("Add", node, [mean, w.constant(node, "epsilon", op.epsilon)], "raised")], "root")
    return w("Mul", node, [w("Div", node, [*xs, root], "normed"), w.weight(node, "gamma")])


@TABLE.entry(ops.Embedding)
def embedding(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    return w("Gather", node, [w.weight(node, "table"), *xs])


@TABLE.entry(ops.TiedDense)
def tied_dense(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    table = w("Transpose", node, [w.weight(node, "table")], "table", perm=(1, 0))
    product = w("MatMul", node, [*xs, table], "product" if op.bias else "")
    return w("Add", node, [product, w.weight(node, "bias")]) if op.bias else product


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    return w("Add", node, [*xs, w.weight(node, "table", lambda a: a[: place.shapes[0][0]])])


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    return w("Add", node, [*xs, w.weight(node, "table", lambda a: a[0])])


@TABLE.entry(ops.ClassToken)
def class_token(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    token = w.weight(node, "token", lambda a: np.broadcast_to(a, (w.batch, 1, a.size)))
    return w("Concat", node, [token, *xs], axis=1)


@TABLE.entry(ops.Tokens)
def tokens(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    height, width, channels = place.shapes[0]
    rows = w("Reshape", node, [*xs, w.shape(node, "shape", w.batch, channels, height * width)], "rows")
    return w("Transpose", node, [rows], perm=(0, 2, 1))


@TABLE.entry(ops.Select)
def select(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    return w("Gather", node, [*xs, w.constant(node, "index", op.index, np.int64)], axis=1)


@TABLE.entry(ops.Attention)
def attention(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    queries, keys, head = op.widths(*place.shapes)
    length = place.shapes[0][0]
    parts = xs if len(xs) == 3 else _split(w, node, xs, (queries, keys, keys))
    q, k, v = (_heads(w, node, x, name, head) for x, name in zip(parts, "qkv"))
    if op.rope_base:
        q, k = _turned(w, op, node, q, "q", length, head), _turned(w, op, node, k, "k", length, head)
    repeats = op.heads // op.groups
    k, v = (_repeated(w, node, x, name, (op.groups, repeats, length, head)) for x, name in ((k, "k"), (v, "v")))
    keys_last = w("Transpose", node, [k], "keys", perm=(0, 1, 3, 2))
    scores = w("MatMul", node, [q, keys_last], "products")
    scores = w("Mul", node, [scores, w.constant(node, "factor", 1 / math.sqrt(head))], "scores")
    if op.causal:
        hidden = np.where(np.tri(length, dtype=bool), 0.0, float(np.finfo(w.dtype).min))
        scores = w("Add", node, [scores, w.constant(node, "mask", hidden)], "masked")
    mixed = w("MatMul", node, [w("Softmax", node, [scores], "shares", axis=-1), v], "mixed")
    joined = w("Transpose", node, [mixed], "joined", perm=(0, 2, 1, 3))
    return w("Reshape", node, [joined, w.shape(node, "shape", w.batch, length, queries)])


def _split(w: Writer, node: Node, xs: list[str], widths: tuple[int, int, int]) -> list[str]:
    from onnx import helper

    outs = [f"{node.name}:{name}" for name in ("queries_in", "keys_in", "values_in")]
    w.nodes.append(helper.make_node("Split", [*xs, w.shape(node, "widths", *widths)], outs, outs[0], axis=-1))
    return outs


def _heads(w: Writer, node: Node, x: str, name: str, head: int) -> str:
    """(batch, positions, width) to (batch, heads, positions, head width)"""
    split = w("Reshape", node, [x, w.shape(node, f"{name}_shape", 0, 0, -1, head)], f"{name}_split")
    return w("Transpose", node, [split], f"{name}_heads", perm=(0, 2, 1, 3))


def _turned(w: Writer, op: ops.Attention, node: Node, x: str, name: str, length: int, head: int) -> str:
    """Rotary embedding: x cos + (-second half, first half) sin."""
    from onnx import helper

    cosine, sine = (w.constant(node, f"{name}_{i}", a) for i, a in enumerate(rotation(op.rope_base, length, head)))
    first, second = (f"{node.name}:{name}_{half}" for half in ("first", "second"))
    w.nodes.append(helper.make_node("Split", [x], [first, second], first, axis=-1, num_outputs=2))
    swapped = w("Concat", node, [w("Neg", node, [second], f"{name}_minus"), first], f"{name}_swapped", axis=-1)
    parts = [w("Mul", node, [x, cosine], f"{name}_cosine"), w("Mul", node, [swapped, sine], f"{name}_sine")]
    return w("Add", node, parts, f"{name}_turned")


def _repeated(w: Writer, node: Node, x: str, name: str, sizes: tuple[int, int, int, int]) -> str:
    """Each key and value head for its group of query heads."""
    groups, repeats, length, head = sizes
    if repeats == 1:
        return x
    single = w("Unsqueeze", node, [x, w.shape(node, f"{name}_axis", 2)], f"{name}_single")
    wide = w("Expand", node, [single, w.shape(node, f"{name}_wide", w.batch, groups, repeats, length, head)], f"{name}_wider")
    return w("Reshape", node, [wide, w.shape(node, f"{name}_all", w.batch, groups * repeats, length, head)], f"{name}_rep")

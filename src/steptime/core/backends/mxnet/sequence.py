"""The operators on sequences in MXNet: (batch, positions, width)."""

from __future__ import annotations

import math
from typing import Any, Callable

from steptime.core.backends.attention import causal_mask, rotation
from steptime.core.backends.mxnet.layer import BlockPlace, function_block, function_layer
from steptime.core.backends.translate import Layer, Link, OperatorTable
from steptime.core.models import ops

TABLE = OperatorTable("mxnet")


@TABLE.entry(ops.LayerNorm)
def layer_norm(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    norm = nn.LayerNorm(axis=-1, epsilon=place.op.epsilon, in_channels=place.shapes[0][-1], prefix=place.prefix)
    return Layer(norm, {"gamma": Link(norm.gamma), "beta": Link(norm.beta)})


@TABLE.entry(ops.RMSNorm)
def rms_norm(place: BlockPlace) -> Layer:
    def normalise(F: Any, x: Any, gamma: Any) -> Any:
        size = F.rsqrt(F.mean(F.square(x), axis=-1, keepdims=True) + place.op.epsilon)
        return F.broadcast_mul(F.broadcast_mul(x, size), gamma)

    return _learned(place, "gamma", (place.shapes[0][-1],), normalise)


def _learned(place: BlockPlace, name: str, shape: ops.Shape, function: Callable[..., Any]) -> Layer:
    """A layer with one parameter, which the function gets beside the input."""
    block = function_block(place, function, {name: shape})
    return Layer(block, {name: Link(getattr(block, name))})


@TABLE.entry(ops.Embedding)
def embedding(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    table = nn.Embedding(place.op.vocabulary, place.op.units, prefix=place.prefix)
    return Layer(table, {"table": Link(table.weight)})


@TABLE.entry(ops.TiedDense)
def tied_dense(place: BlockPlace) -> Layer:
    op = place.op

    def product(F: Any, x: Any, table: Any, bias: Any = None) -> Any:
        return F.FullyConnected(x, table, bias, num_hidden=op.units, flatten=False, no_bias=not op.bias)

    shapes: dict[str, ops.Shape] = {"bias": (op.units,)} if op.bias else {}
    block = function_block(place, product, shapes, shared={"table": place.built[op.embedding].module.weight})
    return Layer(block, {"bias": Link(block.bias)} if op.bias else {})


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(place: BlockPlace) -> Layer:
    length, width = place.shapes[0]

    def add(F: Any, x: Any, table: Any) -> Any:
        return F.broadcast_add(x, F.expand_dims(F.slice_axis(table, axis=0, begin=0, end=length), axis=0))

    return _learned(place, "table", (place.op.positions, width), add)


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(place: BlockPlace) -> Layer:
    def add(F: Any, x: Any, table: Any) -> Any:
        return F.broadcast_add(x, F.expand_dims(F.slice_axis(table, axis=0, begin=0, end=1), axis=0))

    return _learned(place, "table", (place.op.segments, place.shapes[0][1]), add)


@TABLE.entry(ops.ClassToken)
def class_token(place: BlockPlace) -> Layer:
    width = place.shapes[0][1]

    def put(F: Any, x: Any, token: Any) -> Any:
        return F.concat(F.broadcast_to(F.reshape(token, shape=(1, 1, width)), shape=(place.batch, 1, width)), x, dim=1)

    return _learned(place, "token", (width,), put)


@TABLE.entry(ops.Tokens)
def tokens(place: BlockPlace) -> Layer:
    return function_layer(place, lambda F, x: F.transpose(F.reshape(x, shape=(0, 0, -1)), axes=(0, 2, 1)))


@TABLE.entry(ops.Select)
def select(place: BlockPlace) -> Layer:
    index = place.op.index
    return function_layer(place, lambda F, x: F.reshape(F.slice_axis(x, axis=1, begin=index, end=index + 1), shape=(0, -1)))


@TABLE.entry(ops.Attention)
def attention(place: BlockPlace) -> Layer:
    op, length = place.op, place.shapes[0][0]
    queries, keys, head = op.widths(*place.shapes)
    constants = {}
    if op.causal:
        constants["mask"] = causal_mask(length)[None]
    if op.rope_base:
        constants["cosine"], constants["sine"] = (part[None, :, None] for part in rotation(op.rope_base, length, head))

    def attend(F: Any, *inputs: Any, mask: Any = None, cosine: Any = None, sine: Any = None) -> Any:
        parts = inputs
        if len(inputs) == 1:
            edges = (0, queries, queries + keys, queries + 2 * keys)
            parts = tuple(F.slice_axis(inputs[0], axis=-1, begin=a, end=b) for a, b in zip(edges, edges[1:]))
        q, k, v = (F.reshape(x, shape=(0, 0, -1, head)) for x in parts)
        if cosine is not None:
            q, k = (turned(F, x, cosine, sine) for x in (q, k))
        q, k, v = (F.transpose(x, axes=(0, 2, 1, 3)) for x in (q, k, v))
        if op.groups != op.heads:
            k, v = (F.repeat(x, repeats=op.heads // op.groups, axis=1) for x in (k, v))
        q, k, v = (F.reshape(x, shape=(-3, 0, 0)) for x in (q, k, v))
        scores = F.batch_dot(q * (1 / math.sqrt(head)), k, transpose_b=True)
        shares = F.softmax(scores if mask is None else F.broadcast_add(scores, mask), axis=-1)
        y = F.reshape(F.batch_dot(shares, v), shape=(-4, place.batch, op.heads, 0, 0))
        return F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(0, 0, -3))

    return Layer(function_block(place, attend, constants=constants))


def turned(F: Any, x: Any, cosine: Any, sine: Any) -> Any:
    """Rotary embedding of (batch, positions, heads, head width)."""
    first, second = F.split(x, num_outputs=2, axis=3)
    return F.broadcast_mul(x, cosine) + F.broadcast_mul(F.concat(-second, first, dim=3), sine)

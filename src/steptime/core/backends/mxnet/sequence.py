"""The operators on sequences in MXNet: (batch, positions, width)."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from steptime.core.backends.attention import rotation
from steptime.core.backends.mxnet.layer import Layer, Link, Site, function_block, function_layer
from steptime.core.models import ops


def layer_norm(site: Site) -> Layer:
    from mxnet.gluon import nn

    norm = nn.LayerNorm(axis=-1, epsilon=site.op.epsilon, in_channels=site.shapes[0][-1], prefix=site.prefix)
    return Layer(norm, {"gamma": Link(norm.gamma), "beta": Link(norm.beta)})


def rms_norm(site: Site) -> Layer:
    def normalise(F: Any, x: Any, gamma: Any) -> Any:
        size = F.rsqrt(F.mean(F.square(x), axis=-1, keepdims=True) + site.op.epsilon)
        return F.broadcast_mul(F.broadcast_mul(x, size), gamma)

    return _learned(site, "gamma", (site.shapes[0][-1],), normalise)


def _learned(site: Site, name: str, shape: ops.Shape, function: Callable[..., Any]) -> Layer:
    """A layer with one parameter, which the function gets beside the input."""
    block = function_block(site, function, {name: shape})
    return Layer(block, {name: Link(getattr(block, name))})


def embedding(site: Site) -> Layer:
    from mxnet.gluon import nn

    table = nn.Embedding(site.op.vocabulary, site.op.units, prefix=site.prefix)
    return Layer(table, {"table": Link(table.weight)})


def tied_dense(site: Site) -> Layer:
    op = site.op

    def product(F: Any, x: Any, table: Any, bias: Any = None) -> Any:
        return F.FullyConnected(x, table, bias, num_hidden=op.units, flatten=False, no_bias=not op.bias)

    shapes: dict[str, ops.Shape] = {"bias": (op.units,)} if op.bias else {}
    block = function_block(site, product, shapes, shared={"table": site.built[op.embedding].block.weight})
    return Layer(block, {"bias": Link(block.bias)} if op.bias else {})


def position_embedding(site: Site) -> Layer:
    length, width = site.shapes[0]

    def place(F: Any, x: Any, table: Any) -> Any:
        return F.broadcast_add(x, F.expand_dims(F.slice_axis(table, axis=0, begin=0, end=length), axis=0))

    return _learned(site, "table", (site.op.positions, width), place)


def segment_embedding(site: Site) -> Layer:
    def place(F: Any, x: Any, table: Any) -> Any:
        return F.broadcast_add(x, F.expand_dims(F.slice_axis(table, axis=0, begin=0, end=1), axis=0))

    return _learned(site, "table", (site.op.segments, site.shapes[0][1]), place)


def class_token(site: Site) -> Layer:
    width = site.shapes[0][1]

    def put(F: Any, x: Any, token: Any) -> Any:
        return F.concat(F.broadcast_to(F.reshape(token, shape=(1, 1, width)), shape=(site.batch, 1, width)), x, dim=1)

    return _learned(site, "token", (width,), put)


def tokens(site: Site) -> Layer:
    return function_layer(site, lambda F, x: F.transpose(F.reshape(x, shape=(0, 0, -1)), axes=(0, 2, 1)))


def select(site: Site) -> Layer:
    index = site.op.index
    return function_layer(site, lambda F, x: F.reshape(F.slice_axis(x, axis=1, begin=index, end=index + 1), shape=(0, -1)))


def attention(site: Site) -> Layer:
    op, length = site.op, site.shapes[0][0]
    queries, keys, head = op.widths(*site.shapes)
    constants = {}
    if op.causal:
        constants["mask"] = np.where(np.tri(length, dtype=bool), 0.0, -np.inf)[None]
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
        y = F.reshape(F.batch_dot(shares, v), shape=(-4, site.batch, op.heads, 0, 0))
        return F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(0, 0, -3))

    return Layer(function_block(site, attend, constants=constants))


def turned(F: Any, x: Any, cosine: Any, sine: Any) -> Any:
    """Rotary embedding of (batch, positions, heads, head width)."""
    first, second = F.split(x, num_outputs=2, axis=3)
    return F.broadcast_mul(x, cosine) + F.broadcast_mul(F.concat(-second, first, dim=3), sine)


TABLE: dict[type, Callable[[Site], Layer]] = {
    ops.LayerNorm: layer_norm,
    ops.RMSNorm: rms_norm,
    ops.Embedding: embedding,
    ops.TiedDense: tied_dense,
    ops.PositionEmbedding: position_embedding,
    ops.SegmentEmbedding: segment_embedding,
    ops.ClassToken: class_token,
    ops.Tokens: tokens,
    ops.Select: select,
    ops.Attention: attention,
}

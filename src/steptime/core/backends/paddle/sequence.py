"""The operators on sequences in Paddle: (batch, positions, width)."""

from __future__ import annotations

import math
from typing import Any

from steptime.core.backends.attention import causal_mask, rotation
from steptime.core.backends.paddle import double
from steptime.core.backends.paddle.layer import CasePlace, function_layer, learned
from steptime.core.backends.translate import Layer, Link, OperatorTable
from steptime.core.models import ops

TABLE = OperatorTable("paddle")


@TABLE.entry(ops.LayerNorm)
def layer_norm(place: CasePlace) -> Layer:
    import paddle

    if paddle.get_default_dtype() == "float64":
        return double.layer_norm(place)
    norm = paddle.nn.LayerNorm(place.shapes[0][-1], place.op.epsilon)
    return Layer(norm, {"gamma": Link((norm, "weight")), "beta": Link((norm, "bias"))})


@TABLE.entry(ops.RMSNorm)
def rms_norm(place: CasePlace) -> Layer:
    """Written out: Paddle's own runs on GPUs only."""
    import paddle

    epsilon = place.op.epsilon

    def apply(x: Any, gamma: Any) -> Any:
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * gamma

    return learned("gamma", place.shapes[0][-1:], apply)


@TABLE.entry(ops.Embedding)
def embedding(place: CasePlace) -> Layer:
    import paddle

    table = paddle.nn.Embedding(place.op.vocabulary, place.op.units)
    return Layer(table, {"table": Link((table, "weight"))})


@TABLE.entry(ops.TiedDense)
def tied_dense(place: CasePlace) -> Layer:
    import paddle

    table = place.built[place.op.embedding].module.weight
    if place.op.bias:
        return learned("bias", (place.op.units,), lambda x, b, t: paddle.matmul(x, t, transpose_y=True) + b, table=table)
    return function_layer(lambda x, t: paddle.matmul(x, t, transpose_y=True), table=table)


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(place: CasePlace) -> Layer:
    length, width = place.shapes[0]
    return learned("table", (place.op.positions, width), lambda x, table: x + table[:length])


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(place: CasePlace) -> Layer:
    return learned("table", (place.op.segments, place.shapes[0][1]), lambda x, table: x + table[0])


@TABLE.entry(ops.ClassToken)
def class_token(place: CasePlace) -> Layer:
    import paddle

    width = place.shapes[0][1]

    def apply(x: Any, token: Any) -> Any:
        return paddle.concat([token.expand((place.batch, 1, width)), x], 1)

    return learned("token", (width,), apply)


@TABLE.entry(ops.Tokens)
def tokens(place: CasePlace) -> Layer:
    return function_layer(lambda x: x.flatten(2).transpose((0, 2, 1)))


@TABLE.entry(ops.Select)
def select(place: CasePlace) -> Layer:
    return function_layer(lambda x: x[:, place.op.index])


@TABLE.entry(ops.Attention)
def attention(place: CasePlace) -> Layer:
    """Written out: Paddle's fused attention runs on GPUs only. The query heads that share keys are rows of one product."""
    import paddle

    op, length, batch = place.op, place.shapes[0][0], place.batch
    queries, keys, head = op.widths(*place.shapes)
    constants = dict(zip(("cosine", "sine"), rotation(op.rope_base, length, head))) if op.rope_base else {}
    if op.causal:
        constants["mask"] = causal_mask(length)

    def heads(x: Any) -> Any:
        return x.reshape((batch, length, -1, head)).transpose((0, 2, 1, 3))

    def apply(*arguments: Any) -> Any:
        count = len(place.shapes)
        inputs, known = arguments[:count], dict(zip(constants, arguments[count:]))
        parts = inputs if count == 3 else paddle.split(inputs[0], [queries, keys, keys], -1)
        q, k, v = (heads(x) for x in parts)
        if op.rope_base:
            q, k = (_turned(x, known["cosine"], known["sine"]) for x in (q, k))
        grouped = (q * (1 / math.sqrt(head))).reshape((batch, op.groups, -1, head))
        scores = paddle.matmul(grouped, k, transpose_y=True)
        if op.causal:
            scores = scores.reshape((batch, op.heads, length, length)) + known["mask"]
        shares = paddle.nn.functional.softmax(scores, -1).reshape((batch, op.groups, -1, length))
        y = paddle.matmul(shares, v).reshape((batch, op.heads, length, head))
        return y.transpose((0, 2, 1, 3)).reshape((batch, length, queries))

    dtype = paddle.get_default_dtype()
    return function_layer(apply, **{name: paddle.to_tensor(array.astype(dtype)) for name, array in constants.items()})


def _turned(x: Any, cosine: Any, sine: Any) -> Any:
    import paddle

    first, second = paddle.split(x, 2, -1)
    return x * cosine + paddle.concat((-second, first), -1) * sine

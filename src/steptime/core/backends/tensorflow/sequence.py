"""Matrix products and the operators on sequences in TensorFlow: (batch, positions, width)."""

from __future__ import annotations

import math
from typing import Any, Callable

from steptime.core.backends.attention import causal_mask, rotation
from steptime.core.backends.tensorflow.layer import Layer, Pass, VariablePlace
from steptime.core.backends.translate import OperatorTable
from steptime.core.models import ops

TABLE = OperatorTable("tensorflow")


@TABLE.entry(ops.Dense)
def dense(place: VariablePlace) -> Layer:
    return _product(place, "kernel", transposed=False)


@TABLE.entry(ops.TiedDense)
def tied_dense(place: VariablePlace) -> Layer:
    return _product(place, "table", transposed=True)


def _product(place: VariablePlace, name: str, transposed: bool) -> Layer:
    """One product over all positions: as a batch of products, the gradient of the weight would be one for each sample."""
    import tensorflow as tf

    op, width = place.op, place.shapes[0][-1]

    def apply(run: Pass, x: Any) -> Any:
        flat = x if len(x.shape) == 2 else tf.reshape(x, (-1, width))
        y = tf.matmul(flat, place.weight(name), transpose_b=transposed)
        if op.bias:
            y = tf.nn.bias_add(y, place.weight("bias"))
        return y if len(x.shape) == 2 else tf.reshape(y, (*x.shape[:-1], op.units))

    return apply


@TABLE.entry(ops.LayerNorm)
def layer_norm(place: VariablePlace) -> Layer:
    """In single precision at least, as Keras does."""
    import tensorflow as tf

    def apply(run: Pass, x: Any) -> Any:
        gamma, beta = (_wide(place.variables[name]) for name in ("gamma", "beta"))
        wide = _wide(x)
        mean, variance = tf.nn.moments(wide, (-1,), keepdims=True)
        return place.cast(tf.nn.batch_normalization(wide, mean, variance, beta, gamma, place.op.epsilon))

    return apply


@TABLE.entry(ops.RMSNorm)
def rms_norm(place: VariablePlace) -> Layer:
    import tensorflow as tf

    def apply(run: Pass, x: Any) -> Any:
        wide = _wide(x)
        square = tf.reduce_mean(wide * wide, -1, keepdims=True)
        return place.cast(wide * tf.math.rsqrt(square + place.op.epsilon) * _wide(place.variables["gamma"]))

    return apply


def _wide(value: Any) -> Any:
    import tensorflow as tf

    return tf.cast(value, tf.float32) if value.dtype.size < 4 else value


@TABLE.entry(ops.Embedding)
def embedding(place: VariablePlace) -> Layer:
    import tensorflow as tf

    return lambda run, x: place.cast(tf.gather(place.variables["table"], x))


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(place: VariablePlace) -> Layer:
    length = place.shapes[0][0]
    return lambda run, x: x + place.weight("table")[:length]


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(place: VariablePlace) -> Layer:
    return lambda run, x: x + place.weight("table")[0]


@TABLE.entry(ops.ClassToken)
def class_token(place: VariablePlace) -> Layer:
    import tensorflow as tf

    def apply(run: Pass, x: Any) -> Any:
        token = tf.broadcast_to(place.weight("token"), (x.shape[0], 1, x.shape[2]))
        return tf.concat((token, x), 1)

    return apply


@TABLE.entry(ops.Tokens)
def tokens(place: VariablePlace) -> Layer:
    import tensorflow as tf

    return lambda run, x: tf.reshape(x, (x.shape[0], -1, x.shape[-1]))


@TABLE.entry(ops.Select)
def select(place: VariablePlace) -> Layer:
    return lambda run, x: x[:, place.op.index]


@TABLE.entry(ops.Attention)
def attention(place: VariablePlace) -> Layer:
    """Written out, as TensorFlow has no fused attention. The query heads that share keys are rows of one product."""
    import tensorflow as tf

    op = place.op
    length = place.shapes[0][0]
    queries, keys, head = op.widths(*place.shapes)
    turn = _rotation(op.rope_base, length, head, place.dtype) if op.rope_base else lambda x: x
    mask = tf.constant(causal_mask(length), place.dtype) if op.causal else None

    def heads(x: Any) -> Any:
        return tf.transpose(tf.reshape(x, (x.shape[0], length, -1, head)), (0, 2, 1, 3))

    def apply(run: Pass, *inputs: Any) -> Any:
        parts = inputs if len(inputs) == 3 else tf.split(inputs[0], (queries, keys, keys), -1)
        q, k, v = (heads(x) for x in parts)
        batch = q.shape[0]
        grouped = tf.reshape(turn(q) * (1 / math.sqrt(head)), (batch, op.groups, -1, head))
        scores = tf.matmul(grouped, turn(k), transpose_b=True)
        if mask is not None:
            scores = tf.reshape(scores, (batch, op.heads, length, length)) + mask
        shares = tf.reshape(tf.nn.softmax(scores), (batch, op.groups, -1, length))
        y = tf.reshape(tf.matmul(shares, v), (batch, op.heads, length, head))
        return tf.reshape(tf.transpose(y, (0, 2, 1, 3)), (batch, length, queries))

    return apply


def _rotation(base: float, length: int, head: int, dtype: Any) -> Callable[[Any], Any]:
    """Rotary embedding: the angles are computed once, in the precision of a double."""
    import tensorflow as tf

    cosine, sine = (tf.constant(part, dtype) for part in rotation(base, length, head))

    def turn(x: Any) -> Any:
        first, second = tf.split(x, 2, -1)
        return x * cosine + tf.concat((-second, first), -1) * sine

    return turn

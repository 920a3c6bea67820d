"""The operators in tinygrad: plain methods of its Tensor, on images in the layout it knows (batch, channels, height, width)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from steptime.core.backends.attention import rotation
from steptime.core.backends.base import Array
from steptime.core.errors import Unsupported
from steptime.core.models import ops

Own = Mapping[str, Any]


@dataclass
class Pass:
    """One forward pass: its mode, the type it computes in, and where new running statistics are left."""

    training: bool
    dtype: Any
    updates: dict[str, Any] = field(default_factory=dict)


Layer = Callable[[Any, Own, Any, Pass], Any]
"""(operator, its parameters, inputs, pass) to its output"""


def forth(node_op: Any, name: str, array: Array) -> Array:
    """An array of the graph in the order of tinygrad: kernels of convolutions are (out, in, height, width)."""
    return array.transpose(3, 2, 0, 1) if isinstance(node_op, ops.Conv2d) and name == "kernel" else array


def back(node_op: Any, name: str, array: Array) -> Array:
    return array.transpose(2, 3, 1, 0) if isinstance(node_op, ops.Conv2d) and name == "kernel" else array


def four(pads: tuple[ops.Pair, ops.Pair]) -> tuple[int, int, int, int]:
    """Left, right, top, bottom."""
    return (*pads[1], *pads[0])


def image(x: Any) -> ops.Shape:
    """(height, width, channels) of a batch in tinygrad's layout."""
    _, channels, height, width = x.shape
    return (height, width, channels)


def conv2d(op: ops.Conv2d, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    _, _, strides, dilation, pads = op.window(image(x))
    return x.conv2d(p["kernel"], p.get("bias"), op.groups, strides, dilation, four(pads))


def max_pool(op: ops.MaxPool, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    _, kernel, strides, _, pads = op.window(image(x))
    return x.max_pool2d(kernel, strides, 1, four(pads), ceil_mode=op.ceil)


def avg_pool(op: ops.AvgPool, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    _, kernel, strides, _, pads = op.window(image(x))
    return x.avg_pool2d(kernel, strides, 1, four(pads), ceil_mode=op.ceil, count_include_pad=op.count_padding)


def global_avg_pool(op: ops.GlobalAvgPool, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].mean((2, 3))


def dense(op: ops.Dense, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].linear(p["kernel"], p.get("bias"))


def batch_norm(op: ops.BatchNorm, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    axes = tuple(a for a in range(x.ndim) if a != 1)
    shape = [1, -1, *[1] * (x.ndim - 2)]
    mean, variance = p["mean"], p["variance"]
    if run.training:
        count = math.prod(x.shape) // x.shape[1]
        mean = x.mean(axes)
        variance = (x - mean.reshape(shape)).square().mean(axes)
        unbiased = variance * (count / max(count - 1, 1))
        run.updates["mean"] = op.momentum * p["mean"] + (1 - op.momentum) * mean
        run.updates["variance"] = op.momentum * p["variance"] + (1 - op.momentum) * unbiased
    return x.batchnorm(p.get("gamma"), p.get("beta"), mean, (variance + op.epsilon).rsqrt())


def activation(op: ops.Activation, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    if op.kind.startswith("gelu"):
        return x.gelu("tanh" if op.kind == "gelu_tanh" else "none")
    return getattr(x, op.kind)()


def dropout(op: ops.Dropout, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].dropout(op.rate) if run.training and op.rate else xs[0]


def flatten(op: ops.Flatten, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    return (x.permute(0, 2, 3, 1) if x.ndim == 4 else x).flatten(1)


def add(op: ops.Add, p: Own, xs: Any, run: Pass) -> Any:
    total = xs[0] + xs[1]
    for x in xs[2:]:
        total = total + x
    return total


def multiply(op: ops.Multiply, p: Own, xs: Any, run: Pass) -> Any:
    x, y = xs
    if x.ndim == y.ndim:
        return x * y
    return x * (y.reshape(*y.shape, 1, 1) if x.ndim == 4 else y.reshape(y.shape[0], 1, y.shape[1]))


def scale(op: ops.Scale, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0] * op.factor


def pad(op: ops.Pad, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].pad(((0, 0), op.channels, op.rows, op.columns))


def concat(op: ops.Concat, p: Own, xs: Any, run: Pass) -> Any:
    first, *rest = xs
    return first.cat(*rest, dim=1 if first.ndim == 4 else -1)


def layer_norm(op: ops.LayerNorm, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].layernorm(eps=op.epsilon) * p["gamma"] + p["beta"]


def rms_norm(op: ops.RMSNorm, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    return x * (x.square().mean(-1, keepdim=True) + op.epsilon).rsqrt() * p["gamma"]


def embedding(op: ops.Embedding, p: Own, xs: Any, run: Pass) -> Any:
    return p["table"][xs[0]]


def tied_dense(op: ops.TiedDense, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].linear(p["table"].transpose(), p.get("bias"))


def position_embedding(op: ops.PositionEmbedding, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0] + p["table"][: xs[0].shape[1]]


def segment_embedding(op: ops.SegmentEmbedding, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0] + p["table"][0]


def class_token(op: ops.ClassToken, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    return p["token"].reshape(1, 1, -1).expand(x.shape[0], 1, x.shape[2]).cat(x, dim=1)


def tokens(op: ops.Tokens, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].flatten(2).transpose(1, 2)


def select(op: ops.Select, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0][:, op.index]


def attention(op: ops.Attention, p: Own, xs: Any, run: Pass) -> Any:
    shapes = tuple(x.shape[1:] for x in xs)
    queries, keys, head = op.widths(*shapes)
    length = shapes[0][0]
    parts = xs if len(xs) == 3 else xs[0].split([queries, keys, keys], dim=-1)
    q, k, v = (x.reshape(x.shape[0], length, -1, head).transpose(1, 2) for x in parts)
    if op.rope_base:
        q, k = _turned(q, op.rope_base, length, head, run.dtype), _turned(k, op.rope_base, length, head, run.dtype)
    y = q.scaled_dot_product_attention(k, v, is_causal=op.causal, enable_gqa=op.groups != op.heads)
    return y.transpose(1, 2).flatten(2)


def _turned(x: Any, base: float, length: int, head: int, dtype: Any) -> Any:
    """Rotary embedding; the angles in the precision of a double."""
    from tinygrad import Tensor

    cosine, sine = (Tensor(part, dtype=dtype) for part in rotation(base, length, head))
    first, second = x.chunk(2, -1)
    return x * cosine + (-second).cat(first, dim=-1) * sine


TABLE: dict[type, Layer] = {
    ops.Conv2d: conv2d,
    ops.MaxPool: max_pool,
    ops.AvgPool: avg_pool,
    ops.GlobalAvgPool: global_avg_pool,
    ops.Dense: dense,
    ops.BatchNorm: batch_norm,
    ops.Activation: activation,
    ops.Dropout: dropout,
    ops.Flatten: flatten,
    ops.Add: add,
    ops.Multiply: multiply,
    ops.Scale: scale,
    ops.Pad: pad,
    ops.Concat: concat,
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
"""all but LRN, which tinygrad has not"""


def layer_of(op: ops.Op) -> Layer:
    layer: Optional[Layer] = TABLE.get(type(op))
    if layer is None:
        raise Unsupported(f"tinygrad has no operator {type(op).__name__}")
    return layer

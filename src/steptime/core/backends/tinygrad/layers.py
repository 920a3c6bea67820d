"""The operators in tinygrad: plain methods of its Tensor, on images in the layout it knows (batch, channels, height, width)."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add as plus
from typing import Any

from steptime.core.backends.attention import rotation
from steptime.core.backends.channels_first import CONV_KERNEL, channel_axis
from steptime.core.backends.translate import Change, OperatorTable, same
from steptime.core.models import ops

TABLE = OperatorTable("tinygrad")
Own = Mapping[str, Any]


@dataclass
class Pass:
    """One forward pass: its mode, the type it computes in, and where new running statistics are left."""

    training: bool
    dtype: Any
    updates: dict[str, Any] = field(default_factory=dict)


# Entries of the table are functions of (operator, its parameters, inputs, pass), which return the operator's output.


def changes_of(op: ops.Op, name: str) -> tuple[Change, Change]:
    """Of an operator's parameter to tinygrad's order and back: only the kernels of convolutions have another one."""
    return CONV_KERNEL if isinstance(op, ops.Conv2d) and name == "kernel" else (same, same)


def four(pads: tuple[ops.Pair, ops.Pair]) -> tuple[int, int, int, int]:
    """Left, right, top, bottom."""
    return (*pads[1], *pads[0])


def image(x: Any) -> ops.Shape:
    """(height, width, channels) of a batch in tinygrad's layout."""
    _, channels, height, width = x.shape
    return (height, width, channels)


@TABLE.entry(ops.Conv2d)
def conv2d(op: ops.Conv2d, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    _, _, strides, dilation, pads = op.window(image(x))
    return x.conv2d(p["kernel"], p.get("bias"), op.groups, strides, dilation, four(pads))


@TABLE.entry(ops.MaxPool)
def max_pool(op: ops.MaxPool, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    _, kernel, strides, _, pads = op.window(image(x))
    return x.max_pool2d(kernel, strides, 1, four(pads), ceil_mode=op.ceil)


@TABLE.entry(ops.AvgPool)
def avg_pool(op: ops.AvgPool, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    _, kernel, strides, _, pads = op.window(image(x))
    return x.avg_pool2d(kernel, strides, 1, four(pads), ceil_mode=op.ceil, count_include_pad=op.count_padding)


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(op: ops.GlobalAvgPool, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].mean((2, 3))


@TABLE.entry(ops.Dense)
def dense(op: ops.Dense, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].linear(p["kernel"], p.get("bias"))


@TABLE.entry(ops.BatchNorm)
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


@TABLE.entry(ops.Activation)
def activation(op: ops.Activation, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    if op.kind.startswith("gelu"):
        return x.gelu("tanh" if op.kind == "gelu_tanh" else "none")
    return getattr(x, op.kind)()


@TABLE.entry(ops.Dropout)
def dropout(op: ops.Dropout, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].dropout(op.rate) if run.training and op.rate else xs[0]


@TABLE.entry(ops.Flatten)
def flatten(op: ops.Flatten, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    return (x.permute(0, 2, 3, 1) if x.ndim == 4 else x).flatten(1)


@TABLE.entry(ops.Add)
def add(op: ops.Add, p: Own, xs: Any, run: Pass) -> Any:
    return functools.reduce(plus, xs)


@TABLE.entry(ops.Multiply)
def multiply(op: ops.Multiply, p: Own, xs: Any, run: Pass) -> Any:
    x, y = xs
    if x.ndim == y.ndim:
        return x * y
    return x * (y.reshape(*y.shape, 1, 1) if x.ndim == 4 else y.reshape(y.shape[0], 1, y.shape[1]))


@TABLE.entry(ops.Scale)
def scale(op: ops.Scale, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0] * op.factor


@TABLE.entry(ops.Pad)
def pad(op: ops.Pad, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].pad(((0, 0), op.channels, op.rows, op.columns))


@TABLE.entry(ops.Concat)
def concat(op: ops.Concat, p: Own, xs: Any, run: Pass) -> Any:
    first, *rest = xs
    return first.cat(*rest, dim=channel_axis(first.shape[1:]))


@TABLE.entry(ops.LayerNorm)
def layer_norm(op: ops.LayerNorm, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].layernorm(eps=op.epsilon) * p["gamma"] + p["beta"]


@TABLE.entry(ops.RMSNorm)
def rms_norm(op: ops.RMSNorm, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    return x * (x.square().mean(-1, keepdim=True) + op.epsilon).rsqrt() * p["gamma"]


@TABLE.entry(ops.Embedding)
def embedding(op: ops.Embedding, p: Own, xs: Any, run: Pass) -> Any:
    return p["table"][xs[0]]


@TABLE.entry(ops.TiedDense)
def tied_dense(op: ops.TiedDense, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].linear(p["table"].transpose(), p.get("bias"))


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(op: ops.PositionEmbedding, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0] + p["table"][: xs[0].shape[1]]


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(op: ops.SegmentEmbedding, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0] + p["table"][0]


@TABLE.entry(ops.ClassToken)
def class_token(op: ops.ClassToken, p: Own, xs: Any, run: Pass) -> Any:
    (x,) = xs
    return p["token"].reshape(1, 1, -1).expand(x.shape[0], 1, x.shape[2]).cat(x, dim=1)


@TABLE.entry(ops.Tokens)
def tokens(op: ops.Tokens, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0].flatten(2).transpose(1, 2)


@TABLE.entry(ops.Select)
def select(op: ops.Select, p: Own, xs: Any, run: Pass) -> Any:
    return xs[0][:, op.index]


@TABLE.entry(ops.Attention)
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

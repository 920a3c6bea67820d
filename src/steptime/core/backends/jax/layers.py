"""The operators in JAX, and how a graph of them becomes one function of its parameters.

Images are NHWC and kernels HWIO, as in the graph: nothing is transposed. Convolutions and matrix products run in the
precision of the activations; normalisation takes its statistics in single precision at least, as flax does.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add as plus
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.jax import sequence
from steptime.core.backends.translate import OperatorTable, walk
from steptime.core.backends.windows import reach, window_counts
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

TABLE = OperatorTable("jax", sequence.TABLE)


@dataclass
class Context:
    """What a layer may ask for, and where it leaves new running statistics."""

    training: bool
    dtype: Any
    """that activations have"""
    key: Any = None
    """of this step's random numbers; None without dropout"""
    updates: dict[str, Any] = field(default_factory=dict)
    drawn: int = 0

    def next_key(self) -> Any:
        import jax

        self.drawn += 1
        return jax.random.fold_in(self.key, self.drawn)


Own = Mapping[str, Any]
# Entries of the table are functions of (operator, its parameters, inputs, context), which return the operator's output.


@TABLE.entry(ops.Conv2d)
def conv2d(op: ops.Conv2d, p: Own, xs: Any, ctx: Context) -> Any:
    from jax import lax

    (x,) = xs
    _, _, strides, dilation, pads = op.window(x.shape[1:])
    y = lax.conv_general_dilated(
        x,
        p["kernel"].astype(x.dtype),
        strides,
        pads,
        rhs_dilation=dilation,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=op.groups,
    )
    return y + p["bias"].astype(x.dtype) if op.bias else y


@TABLE.entry(ops.MaxPool)
def max_pool(op: ops.MaxPool, p: Own, xs: Any, ctx: Context) -> Any:
    from jax import lax

    (x,) = xs
    _, kernel, strides, _, _ = op.window(x.shape[1:])
    pads = ((0, 0), *reach(op, x.shape[1:]), (0, 0))
    return lax.reduce_window(x, -np.inf, lax.max, (1, *kernel, 1), (1, *strides, 1), pads)


@TABLE.entry(ops.AvgPool)
def avg_pool(op: ops.AvgPool, p: Own, xs: Any, ctx: Context) -> Any:
    from jax import lax

    (x,) = xs
    _, kernel, strides, _, _ = op.window(x.shape[1:])
    pads = ((0, 0), *reach(op, x.shape[1:]), (0, 0))
    total = lax.reduce_window(x, 0.0, lax.add, (1, *kernel, 1), (1, *strides, 1), pads)
    counts = window_counts(op, x.shape[1:])
    return total * np.asarray(1 / counts, x.dtype)[None, :, :, None]


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(op: ops.GlobalAvgPool, p: Own, xs: Any, ctx: Context) -> Any:
    return xs[0].mean((1, 2))


@TABLE.entry(ops.Pad)
def pad(op: ops.Pad, p: Own, xs: Any, ctx: Context) -> Any:
    from jax import lax

    (x,) = xs
    return lax.pad(x, np.zeros((), x.dtype), [(0, 0, 0), *((before, after, 0) for before, after in op.pads)])


@TABLE.entry(ops.Dense)
def dense(op: ops.Dense, p: Own, xs: Any, ctx: Context) -> Any:
    (x,) = xs
    y = x @ p["kernel"].astype(x.dtype)
    return y + p["bias"].astype(x.dtype) if op.bias else y


@TABLE.entry(ops.BatchNorm)
def batch_norm(op: ops.BatchNorm, p: Own, xs: Any, ctx: Context) -> Any:
    import jax.numpy as jnp
    from jax import lax

    (x,) = xs
    mean, variance = p["mean"], p["variance"]
    if ctx.training:
        axes = tuple(range(x.ndim - 1))
        wide = x.astype(mean.dtype)
        count = x.size // x.shape[-1]
        mean = wide.mean(axes)
        variance = jnp.maximum(jnp.square(wide).mean(axes) - jnp.square(mean), 0)
        unbiased = variance * (count / max(count - 1, 1))
        ctx.updates["mean"] = op.momentum * p["mean"] + (1 - op.momentum) * mean
        ctx.updates["variance"] = op.momentum * p["variance"] + (1 - op.momentum) * unbiased
    scale = lax.rsqrt(variance + op.epsilon)
    if op.scale:
        scale = scale * p["gamma"]
    y = (x - mean) * scale
    return (y + p["beta"] if op.center else y).astype(x.dtype)


@TABLE.entry(ops.LRN)
def lrn(op: ops.LRN, p: Own, xs: Any, ctx: Context) -> Any:
    from jax import lax

    (x,) = xs
    size = 2 * op.radius + 1
    sums = lax.reduce_window(x * x, 0.0, lax.add, (1, 1, 1, size), (1, 1, 1, 1), "SAME")
    return x * (op.bias + op.alpha * sums) ** -op.beta


@TABLE.entry(ops.Activation)
def activation(op: ops.Activation, p: Own, xs: Any, ctx: Context) -> Any:
    import jax
    import jax.numpy as jnp

    (x,) = xs
    if op.kind == "relu6":
        return jax.lax.clamp(np.zeros((), x.dtype), x, np.full((), 6, x.dtype))
    if op.kind.startswith("gelu"):
        return jax.nn.gelu(x, approximate=op.kind == "gelu_tanh")
    return {"relu": jax.nn.relu, "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid, "silu": jax.nn.silu}[op.kind](x)


@TABLE.entry(ops.Dropout)
def dropout(op: ops.Dropout, p: Own, xs: Any, ctx: Context) -> Any:
    import jax
    import jax.numpy as jnp

    (x,) = xs
    if not ctx.training or op.rate == 0:
        return x
    keep = jax.random.bernoulli(ctx.next_key(), 1 - op.rate, x.shape)
    return jnp.where(keep, x / (1 - op.rate), jnp.zeros_like(x))


@TABLE.entry(ops.Flatten)
def flatten(op: ops.Flatten, p: Own, xs: Any, ctx: Context) -> Any:
    return xs[0].reshape(xs[0].shape[0], -1)


@TABLE.entry(ops.Add)
def add(op: ops.Add, p: Own, xs: Any, ctx: Context) -> Any:
    return functools.reduce(plus, xs)


@TABLE.entry(ops.Multiply)
def multiply(op: ops.Multiply, p: Own, xs: Any, ctx: Context) -> Any:
    x, y = xs
    return x * y.reshape(y.shape[0], *(1,) * (x.ndim - y.ndim), *y.shape[1:])


@TABLE.entry(ops.Scale)
def scale(op: ops.Scale, p: Own, xs: Any, ctx: Context) -> Any:
    return xs[0] * op.factor


@TABLE.entry(ops.Concat)
def concat(op: ops.Concat, p: Own, xs: Any, ctx: Context) -> Any:
    import jax.numpy as jnp

    return jnp.concatenate(xs, -1)


KEPT_WIDE = (ops.BatchNorm, ops.LayerNorm, ops.RMSNorm)
"""their few parameters stay in single precision when all others are narrower"""


def apply_function(graph: Graph, dtype: Any) -> Callable[..., tuple[Any, dict[str, Any]]]:
    """(arrays by name, batch, whether training, key) to outputs and new running statistics, computed in `dtype`."""
    TABLE.check(graph)

    def apply(arrays: Mapping[str, Any], x: Any, training: bool, key: Optional[Any] = None) -> tuple[Any, dict[str, Any]]:
        import jax

        statistics: dict[str, Any] = {}
        context = Context(training, dtype, key)

        def layer(node: Node, inputs: list[Any]) -> Any:
            own = {own: arrays[name] for own, name in graph.array_names(node).items()}
            context.updates = {}
            with jax.named_scope(node.name):
                output = TABLE[type(node.op)](node.op, own, inputs, context)
            statistics.update({f"{node.name}/{name}": value for name, value in context.updates.items()})
            return output

        return walk(graph, x.astype(dtype) if graph.input_op.kind == "float" else x, layer), statistics

    return apply

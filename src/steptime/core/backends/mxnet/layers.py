"""The operators in MXNet, and how a graph of them becomes one Gluon block: Gluon's own layers where it has one.

Images are NCHW, the only layout that MXNet's convolutions have on a CPU (oneDNN chooses its own inside).
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from steptime.core.backends.channels_first import CONV_KERNEL, ceil_reaches, channel_axis, dense_kernel, row_orders
from steptime.core.backends.mxnet import sequence
from steptime.core.backends.mxnet.layer import BlockPlace, function_block, function_layer
from steptime.core.backends.translate import Layer, Link, OperatorTable, all_links, build_layers, walk
from steptime.core.backends.windows import reach, window_counts
from steptime.core.models import ops
from steptime.core.models.graph import Graph

TABLE = OperatorTable("mxnet", sequence.TABLE)


def around(F: Any, x: Any, pads: tuple[ops.Pair, ops.Pair], value: float = 0.0) -> Any:
    """The image with `value` around it."""
    return F.pad(x, mode="constant", pad_width=(0, 0, 0, 0, *pads[0], *pads[1]), constant_value=value)


@TABLE.entry(ops.Conv2d)
def conv2d(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    op, (x,) = place.op, place.shapes
    _, kernel, strides, dilation, pads = op.window(x)
    even = all(before == after for before, after in pads)
    conv = nn.Conv2D(
        op.filters,
        kernel,
        strides,
        (pads[0][0], pads[1][0]) if even else (0, 0),
        dilation,
        op.groups,
        use_bias=op.bias,
        in_channels=x[2],
        prefix=place.prefix,
    )
    links = {"kernel": Link(conv.weight, *CONV_KERNEL)}
    if op.bias:
        links["bias"] = Link(conv.bias)
    return Layer(conv if even else chain(place, function_block(place, lambda F, x: around(F, x, pads)), conv), links)


def chain(place: BlockPlace, *blocks: Any) -> Any:
    from mxnet.gluon import nn

    sequence = nn.HybridSequential(prefix=place.prefix)
    sequence.add(*blocks)
    return sequence


@TABLE.entry(ops.MaxPool, ops.AvgPool)
def pool(place: BlockPlace) -> Layer:
    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    average = isinstance(op, ops.AvgPool)
    before, after = (pads[0][0], pads[1][0]), (pads[0][1], pads[1][1])
    geometry: dict[str, Any] = {"kernel": kernel, "stride": strides, "pool_type": "avg" if average else "max"}
    if average:
        geometry["count_include_pad"] = op.count_padding
    rounding = convention(op, x) if before == after else ("full" if ceil_reaches(op, x) else "")
    if rounding:
        return function_layer(place, lambda F, x: F.Pooling(x, pad=before, pooling_convention=rounding, **geometry))
    full = reach(op, x)
    if not average:
        return function_layer(place, lambda F, x: F.Pooling(around(F, x, full, -np.inf), **geometry))
    geometry["count_include_pad"] = True
    share = math.prod(kernel) / window_counts(op, x)[None, None]
    weighed = function_block(
        place, lambda F, x, share: F.broadcast_mul(F.Pooling(around(F, x, full), **geometry), share), constants={"share": share}
    )
    return Layer(weighed)


def convention(op: ops.Pool, x: ops.Shape) -> str:
    """MXNet's name of how the output's size is rounded; empty if 'full' would add a window that sees padding only."""
    size, kernel, strides, _, pads = op.window(x)
    if not op.ceil:
        return "valid"
    plain = tuple(math.ceil((x[i] + sum(pads[i]) - kernel[i]) / strides[i]) + 1 for i in (0, 1))
    return "full" if plain == size else ""


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    return Layer(chain(place, nn.GlobalAvgPool2D(prefix=place.prefix), nn.Flatten(prefix=place.prefix)))


@TABLE.entry(ops.Dense)
def dense(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    op = place.op
    linear = nn.Dense(op.units, use_bias=op.bias, flatten=False, in_units=place.shapes[0][-1], prefix=place.prefix)
    links = {"kernel": Link(linear.weight, *dense_kernel(place.row_order))}
    if op.bias:
        links["bias"] = Link(linear.bias)
    return Layer(linear, links)


@TABLE.entry(ops.BatchNorm)
def batch_norm(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    op, (x,) = place.op, place.shapes
    norm = nn.BatchNorm(channel_axis(x), op.momentum, op.epsilon, op.center, op.scale, in_channels=x[-1], prefix=place.prefix)
    links = {"mean": Link(norm.running_mean), "variance": Link(norm.running_var)}
    if op.scale:
        links["gamma"] = Link(norm.gamma)
    if op.center:
        links["beta"] = Link(norm.beta)
    return Layer(norm, links)


@TABLE.entry(ops.LRN)
def lrn(place: BlockPlace) -> Layer:
    """MXNet's own knows no double precision: there it is written out."""
    op, size = place.op, 2 * place.op.radius + 1
    height, width, channels = place.shapes[0]

    def normalise(F: Any, x: Any) -> Any:
        rows = around(F, F.reshape(F.square(x), shape=(0, 1, channels, -1)), ((op.radius, op.radius), (0, 0)))
        sums = F.add_n(*(F.slice_axis(rows, axis=2, begin=i, end=i + channels) for i in range(size)))
        return x * (op.bias + op.alpha * F.reshape(sums, shape=(0, channels, height, width))) ** -op.beta

    if place.double:
        return function_layer(place, normalise)
    return function_layer(place, lambda F, x: F.LRN(x, alpha=op.alpha * size, beta=op.beta, knorm=op.bias, nsize=size))


GELU_SCALE, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


@TABLE.entry(ops.Activation)
def activation(place: BlockPlace) -> Layer:
    curves: dict[str, Callable[..., Any]] = {
        "relu6": lambda F, x: F.clip(x, 0, 6),
        "silu": lambda F, x: x * F.Activation(x, act_type="sigmoid"),
        "gelu": lambda F, x: F.LeakyReLU(x, act_type="gelu"),
        "gelu_tanh": lambda F, x: 0.5 * x * (1 + F.Activation(GELU_SCALE * (x + GELU_CUBE * x * x * x), act_type="tanh")),
    }
    kind = place.op.kind
    return function_layer(place, curves.get(kind) or (lambda F, x: F.Activation(x, act_type=kind)))


@TABLE.entry(ops.Dropout)
def dropout(place: BlockPlace) -> Layer:
    from mxnet.gluon import nn

    return Layer(nn.Dropout(place.op.rate, prefix=place.prefix))


@TABLE.entry(ops.Flatten)
def flatten(place: BlockPlace) -> Layer:
    if len(place.shapes[0]) == 3 and not place.keeps_order:
        return function_layer(place, lambda F, x: F.Flatten(F.transpose(x, axes=(0, 2, 3, 1))))
    return function_layer(place, lambda F, x: F.Flatten(x))


@TABLE.entry(ops.Add)
def add(place: BlockPlace) -> Layer:
    return function_layer(place, lambda F, *xs: F.elemwise_add(*xs) if len(xs) == 2 else F.add_n(*xs))


@TABLE.entry(ops.Multiply)
def multiply(place: BlockPlace) -> Layer:
    x, y = place.shapes
    if x == y:
        return function_layer(place, lambda F, a, b: F.elemwise_mul(a, b))
    wide = (0, 0, 1, 1) if len(x) == 3 else (0, 1, -1)
    return function_layer(place, lambda F, a, b: F.broadcast_mul(a, F.reshape(b, shape=wide)))


@TABLE.entry(ops.Scale)
def scale(place: BlockPlace) -> Layer:
    return function_layer(place, lambda F, x: x * place.op.factor)


@TABLE.entry(ops.Pad)
def pad(place: BlockPlace) -> Layer:
    """MXNet pads the last two axes only: channels are padded as rows of an image of (channels, pixels)."""
    op, (height, width, channels) = place.op, place.shapes[0]
    grown = [(max(before, 0), max(after, 0)) for before, after in op.pads]
    kept = [(max(-before, 0), size - max(-after, 0)) for size, (before, after) in zip(place.shapes[0], op.pads)]

    def padded(F: Any, x: Any) -> Any:
        for axis, (begin, end), size in zip((2, 3, 1), kept, (height, width, channels)):
            if (begin, end) != (0, size):
                x = F.slice_axis(x, axis=axis, begin=begin, end=end)
        if any(grown[0] + grown[1]):
            x = around(F, x, (grown[0], grown[1]))
        if any(grown[2]):
            rows, columns, _ = op.output_shape(place.shapes[0])
            flat = around(F, F.reshape(x, shape=(0, 1, -1, rows * columns)), (grown[2], (0, 0)))
            x = F.reshape(flat, shape=(0, -1, rows, columns))
        return x

    return function_layer(place, padded)


@TABLE.entry(ops.Concat)
def concat(place: BlockPlace) -> Layer:
    axis = channel_axis(place.shapes[0])
    return function_layer(place, lambda F, *xs: F.concat(*xs, dim=axis))


def build_block(graph: Graph, batch: int, double: bool) -> tuple[Any, dict[str, Link]]:
    """The Gluon block, and the links of the graph's arrays to its parameters."""
    from mxnet import gluon

    orders = row_orders(graph)
    layers: dict[str, Layer] = build_layers(
        graph, TABLE, lambda node, built: BlockPlace(graph, node, built, orders, batch, double)
    )

    class Net(gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(prefix="")
            for name, layer in layers.items():
                self.register_child(layer.module, name)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return walk(graph, x, lambda node, inputs: layers[node.name].module(*inputs))

    return Net(), all_links(layers)

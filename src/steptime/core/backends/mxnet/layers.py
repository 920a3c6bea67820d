"""The operators in MXNet, and how a graph of them becomes one Gluon block: Gluon's own layers where it has one.

Images are NCHW, the only layout that MXNet's convolutions have on a CPU (oneDNN chooses its own inside).
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from steptime.core.backends.channels_first import ceil_reaches, dense_kernel, row_orders
from steptime.core.backends.mxnet import sequence
from steptime.core.backends.mxnet.layer import Layer, Link, Site, function_block, function_layer
from steptime.core.backends.windows import reach, window_counts
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph


def around(F: Any, x: Any, pads: tuple[ops.Pair, ops.Pair], value: float = 0.0) -> Any:
    """The image with `value` around it."""
    return F.pad(x, mode="constant", pad_width=(0, 0, 0, 0, *pads[0], *pads[1]), constant_value=value)


def conv2d(site: Site) -> Layer:
    from mxnet.gluon import nn

    op, (x,) = site.op, site.shapes
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
        prefix=site.prefix,
    )
    links = {"kernel": Link(conv.weight, lambda a: a.transpose(3, 2, 0, 1), lambda a: a.transpose(2, 3, 1, 0))}
    if op.bias:
        links["bias"] = Link(conv.bias)
    return Layer(conv if even else chain(site, function_block(site, lambda F, x: around(F, x, pads)), conv), links)


def chain(site: Site, *blocks: Any) -> Any:
    from mxnet.gluon import nn

    sequence = nn.HybridSequential(prefix=site.prefix)
    sequence.add(*blocks)
    return sequence


def pool(site: Site) -> Layer:
    op, (x,) = site.op, site.shapes
    _, kernel, strides, _, pads = op.window(x)
    average = isinstance(op, ops.AvgPool)
    before, after = (pads[0][0], pads[1][0]), (pads[0][1], pads[1][1])
    geometry: dict[str, Any] = {"kernel": kernel, "stride": strides, "pool_type": "avg" if average else "max"}
    if average:
        geometry["count_include_pad"] = op.count_padding
    way = convention(op, x) if before == after else ("full" if ceil_reaches(op, x) else "")
    if way:
        return function_layer(site, lambda F, x: F.Pooling(x, pad=before, pooling_convention=way, **geometry))
    full = reach(op, x)
    if not average:
        return function_layer(site, lambda F, x: F.Pooling(around(F, x, full, -np.inf), **geometry))
    geometry["count_include_pad"] = True
    share = math.prod(kernel) / window_counts(op, x)[None, None]
    weighed = function_block(
        site, lambda F, x, share: F.broadcast_mul(F.Pooling(around(F, x, full), **geometry), share), constants={"share": share}
    )
    return Layer(weighed)


def convention(op: ops.Pool, x: ops.Shape) -> str:
    """MXNet's name of how the output's size is rounded; empty if 'full' would add a window that sees padding only."""
    size, kernel, strides, _, pads = op.window(x)
    if not op.ceil:
        return "valid"
    plain = tuple(math.ceil((x[i] + sum(pads[i]) - kernel[i]) / strides[i]) + 1 for i in (0, 1))
    return "full" if plain == size else ""


def global_avg_pool(site: Site) -> Layer:
    from mxnet.gluon import nn

    return Layer(chain(site, nn.GlobalAvgPool2D(prefix=site.prefix), nn.Flatten(prefix=site.prefix)))


def dense(site: Site) -> Layer:
    from mxnet.gluon import nn

    op = site.op
    linear = nn.Dense(op.units, use_bias=op.bias, flatten=False, in_units=site.shapes[0][-1], prefix=site.prefix)
    links = {"kernel": Link(linear.weight, *dense_kernel(site.row_order))}
    if op.bias:
        links["bias"] = Link(linear.bias)
    return Layer(linear, links)


def batch_norm(site: Site) -> Layer:
    from mxnet.gluon import nn

    op, (x,) = site.op, site.shapes
    axis = 1 if len(x) == 3 else len(x)
    norm = nn.BatchNorm(axis, op.momentum, op.epsilon, op.center, op.scale, in_channels=x[-1], prefix=site.prefix)
    links = {"mean": Link(norm.running_mean), "variance": Link(norm.running_var)}
    if op.scale:
        links["gamma"] = Link(norm.gamma)
    if op.center:
        links["beta"] = Link(norm.beta)
    return Layer(norm, links)


def lrn(site: Site) -> Layer:
    """MXNet's own knows no double precision: there it is written out."""
    op, size = site.op, 2 * site.op.radius + 1
    height, width, channels = site.shapes[0]

    def normalise(F: Any, x: Any) -> Any:
        rows = around(F, F.reshape(F.square(x), shape=(0, 1, channels, -1)), ((op.radius, op.radius), (0, 0)))
        sums = F.add_n(*(F.slice_axis(rows, axis=2, begin=i, end=i + channels) for i in range(size)))
        return x * (op.bias + op.alpha * F.reshape(sums, shape=(0, channels, height, width))) ** -op.beta

    if site.double:
        return function_layer(site, normalise)
    return function_layer(site, lambda F, x: F.LRN(x, alpha=op.alpha * size, beta=op.beta, knorm=op.bias, nsize=size))


GELU_SCALE, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


def activation(site: Site) -> Layer:
    curves: dict[str, Callable[..., Any]] = {
        "relu6": lambda F, x: F.clip(x, 0, 6),
        "silu": lambda F, x: x * F.Activation(x, act_type="sigmoid"),
        "gelu": lambda F, x: F.LeakyReLU(x, act_type="gelu"),
        "gelu_tanh": lambda F, x: 0.5 * x * (1 + F.Activation(GELU_SCALE * (x + GELU_CUBE * x * x * x), act_type="tanh")),
    }
    kind = site.op.kind
    return function_layer(site, curves.get(kind) or (lambda F, x: F.Activation(x, act_type=kind)))


def dropout(site: Site) -> Layer:
    from mxnet.gluon import nn

    return Layer(nn.Dropout(site.op.rate, prefix=site.prefix))


def flatten(site: Site) -> Layer:
    if len(site.shapes[0]) == 3 and not site.keeps_order:
        return function_layer(site, lambda F, x: F.Flatten(F.transpose(x, axes=(0, 2, 3, 1))))
    return function_layer(site, lambda F, x: F.Flatten(x))


def add(site: Site) -> Layer:
    return function_layer(site, lambda F, *xs: F.elemwise_add(*xs) if len(xs) == 2 else F.add_n(*xs))


def multiply(site: Site) -> Layer:
    x, y = site.shapes
    if x == y:
        return function_layer(site, lambda F, a, b: F.elemwise_mul(a, b))
    wide = (0, 0, 1, 1) if len(x) == 3 else (0, 1, -1)
    return function_layer(site, lambda F, a, b: F.broadcast_mul(a, F.reshape(b, shape=wide)))


def scale(site: Site) -> Layer:
    return function_layer(site, lambda F, x: x * site.op.factor)


def pad(site: Site) -> Layer:
    """MXNet pads the last two axes only: channels are padded as rows of an image of (channels, pixels)."""
    op, (height, width, channels) = site.op, site.shapes[0]
    grown = [(max(before, 0), max(after, 0)) for before, after in op.pads]
    kept = [(max(-before, 0), size - max(-after, 0)) for size, (before, after) in zip(site.shapes[0], op.pads)]

    def padded(F: Any, x: Any) -> Any:
        for axis, (begin, end), size in zip((2, 3, 1), kept, (height, width, channels)):
            if (begin, end) != (0, size):
                x = F.slice_axis(x, axis=axis, begin=begin, end=end)
        if any(grown[0] + grown[1]):
            x = around(F, x, (grown[0], grown[1]))
        if any(grown[2]):
            rows, columns, _ = op.output_shape(site.shapes[0])
            flat = around(F, F.reshape(x, shape=(0, 1, -1, rows * columns)), (grown[2], (0, 0)))
            x = F.reshape(flat, shape=(0, -1, rows, columns))
        return x

    return function_layer(site, padded)


def concat(site: Site) -> Layer:
    axis = 1 if len(site.shapes[0]) == 3 else len(site.shapes[0])
    return function_layer(site, lambda F, *xs: F.concat(*xs, dim=axis))


TABLE: dict[type, Callable[[Site], Layer]] = {
    ops.Conv2d: conv2d,
    ops.MaxPool: pool,
    ops.AvgPool: pool,
    ops.GlobalAvgPool: global_avg_pool,
    ops.Dense: dense,
    ops.BatchNorm: batch_norm,
    ops.LRN: lrn,
    ops.Activation: activation,
    ops.Dropout: dropout,
    ops.Flatten: flatten,
    ops.Add: add,
    ops.Multiply: multiply,
    ops.Scale: scale,
    ops.Pad: pad,
    ops.Concat: concat,
    **sequence.TABLE,
}


def build_block(graph: Graph, batch: int, double: bool) -> tuple[Any, dict[str, Link]]:
    """The Gluon block, and for each of the graph's arrays its parameter and the ways there and back."""
    from mxnet import gluon

    orders = row_orders(graph)
    built: dict[str, Layer] = {}
    for node in graph.nodes[1:]:
        make = TABLE.get(type(node.op))
        if make is None:
            raise Unsupported(f"mxnet has no operator {type(node.op).__name__}")
        built[node.name] = make(Site(graph, node, batch, double, orders, built))

    class Net(gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(prefix="")
            for name, layer in built.items():
                self.register_child(layer.block, name)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            values = {graph.input.name: x}
            for node in graph.nodes[1:]:
                values[node.name] = built[node.name].block(*(values[i] for i in node.inputs))
            return values[graph.output]

    links = {f"{node}/{name}": link for node, layer in built.items() for name, link in layer.links.items()}
    return Net(), links

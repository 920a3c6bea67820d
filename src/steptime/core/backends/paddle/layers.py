"""The operators in Paddle, on images in its native layout (batch, channels, height, width), and the network of them."""

from __future__ import annotations

import functools
from operator import add as plus
from typing import Any

import numpy as np

from steptime.core.backends.base import Weights
from steptime.core.backends.channels_first import CONV_KERNEL, channel_axis, dense_rows, row_orders
from steptime.core.backends.paddle import double, sequence
from steptime.core.backends.paddle.layer import CasePlace, function_layer
from steptime.core.backends.translate import Layer, Link, OperatorTable, all_links, build_layers, walk
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph
from steptime.core.schema import Case

TABLE = OperatorTable("paddle", sequence.TABLE)


def four(pads: tuple[ops.Pair, ops.Pair]) -> list[int]:
    """Top, bottom, left, right; Paddle takes uneven ones too."""
    return [*pads[0], *pads[1]]


@TABLE.entry(ops.Conv2d)
def conv2d(place: CasePlace) -> Layer:
    import paddle

    op, (x,) = place.op, place.shapes
    _, kernel, strides, dilation, pads = op.window(x)
    even = all(a == b for a, b in pads)
    conv = paddle.nn.Conv2D(
        x[2],
        op.filters,
        kernel,
        strides,
        [pads[0][0], pads[1][0]] if even else four(pads),
        dilation,
        op.groups,
        bias_attr=None if op.bias else False,
    )
    links = {"kernel": Link((conv, "weight"), *CONV_KERNEL)}
    if op.bias:
        links["bias"] = Link((conv, "bias"))
    return Layer(conv, links)


def rounding(op: ops.Pool, x: ops.Shape) -> bool:
    """Paddle's ceil_mode that gives the operator's size, which leaves out a window that would begin in the padding."""
    size, kernel, strides, _, pads = op.window(x)
    for ceil in (op.ceil, not op.ceil):
        extra = [s - 1 if ceil else 0 for s in strides]
        if size == tuple((x[i] + sum(pads[i]) - kernel[i] + extra[i]) // strides[i] + 1 for i in (0, 1)):
            return ceil
    raise Unsupported(f"paddle has no {type(op).__name__} of {kernel} over {x[:2]} with padding {pads} that ends at {size}")


@TABLE.entry(ops.MaxPool)
def max_pool(place: CasePlace) -> Layer:
    import paddle

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    ceil = rounding(op, x)
    return function_layer(lambda x: paddle.nn.functional.max_pool2d(x, kernel, strides, four(pads), ceil_mode=ceil))


@TABLE.entry(ops.AvgPool)
def avg_pool(place: CasePlace) -> Layer:
    import paddle

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    ceil, exclusive = rounding(op, x), not op.count_padding
    if ceil and op.count_padding:
        raise Unsupported("paddle has no AvgPool that rounds up and counts its padding")
    pool = paddle.nn.functional.avg_pool2d
    return function_layer(lambda x: pool(x, kernel, strides, four(pads), ceil_mode=ceil, exclusive=exclusive))


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(place: CasePlace) -> Layer:
    import paddle

    pool = paddle.nn.functional.adaptive_avg_pool2d
    return function_layer(lambda x: pool(x, 1).flatten(1))


@TABLE.entry(ops.Dense)
def dense(place: CasePlace) -> Layer:
    """Its weight is (in, out), as the graph's."""
    import paddle

    op = place.op
    linear = paddle.nn.Linear(place.shapes[0][-1], op.units, bias_attr=None if op.bias else False)
    links = {"kernel": Link((linear, "weight"), *dense_rows(place.row_order))}
    if op.bias:
        links["bias"] = Link((linear, "bias"))
    return Layer(linear, links)


@TABLE.entry(ops.BatchNorm)
def batch_norm(place: CasePlace) -> Layer:
    """Paddle keeps the biased running variance. The other is larger by a constant factor, by which ours is read and written:
    both follow the same rule from step to step, and the step itself stays Paddle's own.
    """
    import paddle

    if paddle.get_default_dtype() == "float64":
        return double.batch_norm(place)
    op, (x,) = place.op, place.shapes
    make = {1: paddle.nn.BatchNorm1D, 2: paddle.nn.BatchNorm1D, 3: paddle.nn.BatchNorm2D}[len(x)]
    layout = {"data_format": "NLC"} if len(x) == 2 else {}
    used = {name: None if wanted else False for name, wanted in (("weight_attr", op.scale), ("bias_attr", op.center))}
    norm = make(x[-1], op.momentum, op.epsilon, **used, **layout)
    count = place.batch * int(np.prod(x[:-1], dtype=np.int64))
    factor = count / max(count - 1, 1) if place.training else 1.0
    links = {
        "mean": Link((norm, "_mean")),
        "variance": Link((norm, "_variance"), lambda a: a.astype(np.float64) / factor, lambda a: a * factor),
    }
    if op.scale:
        links["gamma"] = Link((norm, "weight"))
    if op.center:
        links["beta"] = Link((norm, "bias"))
    return Layer(norm, links)


@TABLE.entry(ops.LRN)
def lrn(place: CasePlace) -> Layer:
    """Paddle takes the mean of the squares, the graph their sum."""
    import paddle

    op, size = place.op, 2 * place.op.radius + 1
    norm = paddle.nn.functional.local_response_norm
    return function_layer(lambda x: norm(x, size, op.alpha * size, op.beta, op.bias))


@TABLE.entry(ops.Activation)
def activation(place: CasePlace) -> Layer:
    import paddle

    f, kind = paddle.nn.functional, place.op.kind
    if kind.startswith("gelu"):
        gelu = double.gelu if paddle.get_default_dtype() == "float64" else f.gelu
        return function_layer(lambda x: gelu(x, approximate=kind == "gelu_tanh"))
    return function_layer({"relu": f.relu, "relu6": f.relu6, "tanh": f.tanh, "sigmoid": f.sigmoid, "silu": f.silu}[kind])


@TABLE.entry(ops.Dropout)
def dropout(place: CasePlace) -> Layer:
    import paddle

    return Layer(paddle.nn.Dropout(place.op.rate))


@TABLE.entry(ops.Flatten)
def flatten(place: CasePlace) -> Layer:
    if len(place.shapes[0]) == 3 and not place.keeps_order:
        return function_layer(lambda x: x.transpose((0, 2, 3, 1)).flatten(1))
    return function_layer(lambda x: x.flatten(1))


@TABLE.entry(ops.Add)
def add(place: CasePlace) -> Layer:
    return function_layer(lambda *xs: functools.reduce(plus, xs))


@TABLE.entry(ops.Multiply)
def multiply(place: CasePlace) -> Layer:
    x, y = place.shapes
    if x == y:
        return function_layer(lambda a, b: a * b)
    if len(x) == 3:
        return function_layer(lambda a, b: a * b.reshape((place.batch, -1, 1, 1)))
    return function_layer(lambda a, b: a * b.reshape((place.batch, 1, -1)))


@TABLE.entry(ops.Scale)
def scale(place: CasePlace) -> Layer:
    import paddle

    return function_layer(lambda x: paddle.scale(x, place.op.factor))


@TABLE.entry(ops.Pad)
def pad(place: CasePlace) -> Layer:
    """Cropping, which Paddle's pad has not, by a slice. Channels are padded as the depth of a volume of one channel:
    the general pad, which takes all four axes, corrupts memory in the predictor (3.3.1).
    """
    import paddle

    op, (x,) = place.op, place.shapes
    axes = (op.channels, op.rows, op.columns)
    grown = [max(amount, 0) for pads in (op.columns, op.rows, op.channels) for amount in pads]
    sizes = (x[2], x[0], x[1])
    begins = [max(-before, 0) for before, _ in axes]
    ends = [size - max(-after, 0) for size, (_, after) in zip(sizes, axes)]

    def apply(x: Any) -> Any:
        if (*begins, *ends) != (0, 0, 0, *sizes):
            x = paddle.slice(x, [1, 2, 3], begins, ends)
        if any(grown[4:]):
            return paddle.nn.functional.pad(x.unsqueeze(1), grown, data_format="NCDHW").squeeze(1)
        return paddle.nn.functional.pad(x, grown[:4]) if any(grown) else x

    return function_layer(apply)


@TABLE.entry(ops.Concat)
def concat(place: CasePlace) -> Layer:
    import paddle

    axis = channel_axis(place.shapes[0])
    return function_layer(lambda *xs: paddle.concat(xs, axis))


def build_network(graph: Graph, weights: Weights, case: Case) -> tuple[Any, dict[str, Link]]:
    """The paddle.nn.Layer, and the links of the graph's arrays to (owner, attribute) of its tensors."""
    import paddle

    orders = row_orders(graph)
    layers: dict[str, Layer] = build_layers(graph, TABLE, lambda node, built: CasePlace(graph, node, built, orders, case))
    links = all_links(layers)
    for name, link in links.items():
        assign(getattr(*link.target), link.to_framework(weights[name]))

    class Network(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for i, layer in enumerate(layers.values()):
                self.add_sublayer(f"layer{i}", layer.module)

        @paddle.jit.not_to_static  # type: ignore[untyped-decorator]
        def run(self, x: Any) -> Any:
            """Nothing here depends on values: tracing sees plain calls, and no source needs to be rewritten."""
            return walk(graph, x, lambda node, inputs: layers[node.name].module(*inputs))

        def forward(self, x: Any) -> Any:
            return self.run(x)

    return Network(), links


def assign(tensor: Any, array: Any) -> None:
    """In the tensor's own type."""
    import paddle

    tensor.set_value(paddle.to_tensor(np.ascontiguousarray(array)).astype(tensor.dtype))

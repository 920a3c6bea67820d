"""The operators in Paddle, on images in its native layout (batch, channels, height, width), and the network of them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from steptime.core.backends.base import Weights
from steptime.core.backends.channels_first import row_orders
from steptime.core.backends.paddle import double, sequence
from steptime.core.backends.paddle.layer import Arrays, Layer, Place, function_layer, same
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph
from steptime.core.schema import Case


def four(pads: tuple[ops.Pair, ops.Pair]) -> list[int]:
    """Top, bottom, left, right; Paddle takes uneven ones too."""
    return [*pads[0], *pads[1]]


def conv2d(place: Place) -> Layer:
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
    arrays: dict[str, Arrays] = {"kernel": (conv, "weight", lambda a: a.transpose(3, 2, 0, 1), lambda a: a.transpose(2, 3, 1, 0))}
    if op.bias:
        arrays["bias"] = (conv, "bias", same, same)
    return Layer(conv, arrays)


def rounding(op: ops.Pool, x: ops.Shape) -> bool:
    """Paddle's ceil_mode that gives the operator's size, which leaves out a window that would begin in the padding."""
    size, kernel, strides, _, pads = op.window(x)
    for ceil in (op.ceil, not op.ceil):
        extra = [s - 1 if ceil else 0 for s in strides]
        if size == tuple((x[i] + sum(pads[i]) - kernel[i] + extra[i]) // strides[i] + 1 for i in (0, 1)):
            return ceil
    raise Unsupported(f"paddle has no {type(op).__name__} of {kernel} over {x[:2]} with padding {pads} that ends at {size}")


def max_pool(place: Place) -> Layer:
    import paddle

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    ceil = rounding(op, x)
    return function_layer(lambda x: paddle.nn.functional.max_pool2d(x, kernel, strides, four(pads), ceil_mode=ceil))


def avg_pool(place: Place) -> Layer:
    import paddle

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    ceil, exclusive = rounding(op, x), not op.count_padding
    if ceil and op.count_padding:
        raise Unsupported("paddle has no AvgPool that rounds up and counts its padding")
    pool = paddle.nn.functional.avg_pool2d
    return function_layer(lambda x: pool(x, kernel, strides, four(pads), ceil_mode=ceil, exclusive=exclusive))


def global_avg_pool(place: Place) -> Layer:
    import paddle

    pool = paddle.nn.functional.adaptive_avg_pool2d
    return function_layer(lambda x: pool(x, 1).flatten(1))


def dense(place: Place) -> Layer:
    """Its weight is (in, out), as the graph's."""
    import paddle

    op, order = place.op, place.row_order
    linear = paddle.nn.Linear(place.shapes[0][-1], op.units, bias_attr=None if op.bias else False)
    arrays: dict[str, Arrays] = {"kernel": (linear, "weight", same, same)}
    if order is not None:
        back = np.argsort(order)
        arrays["kernel"] = (linear, "weight", lambda a: a[order], lambda a: a[back])
    if op.bias:
        arrays["bias"] = (linear, "bias", same, same)
    return Layer(linear, arrays)


def batch_norm(place: Place) -> Layer:
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
    arrays: dict[str, Arrays] = {
        "mean": (norm, "_mean", same, same),
        "variance": (norm, "_variance", lambda a: a.astype(np.float64) / factor, lambda a: a * factor),
    }
    if op.scale:
        arrays["gamma"] = (norm, "weight", same, same)
    if op.center:
        arrays["beta"] = (norm, "bias", same, same)
    return Layer(norm, arrays)


def lrn(place: Place) -> Layer:
    """Paddle takes the mean of the squares, the graph their sum."""
    import paddle

    op, size = place.op, 2 * place.op.radius + 1
    norm = paddle.nn.functional.local_response_norm
    return function_layer(lambda x: norm(x, size, op.alpha * size, op.beta, op.bias))


def activation(place: Place) -> Layer:
    import paddle

    f, kind = paddle.nn.functional, place.op.kind
    if kind.startswith("gelu"):
        gelu = double.gelu if paddle.get_default_dtype() == "float64" else f.gelu
        return function_layer(lambda x: gelu(x, approximate=kind == "gelu_tanh"))
    return function_layer({"relu": f.relu, "relu6": f.relu6, "tanh": f.tanh, "sigmoid": f.sigmoid, "silu": f.silu}[kind])


def dropout(place: Place) -> Layer:
    import paddle

    return Layer(paddle.nn.Dropout(place.op.rate))


def flatten(place: Place) -> Layer:
    if len(place.shapes[0]) == 3 and place.to_last:
        return function_layer(lambda x: x.transpose((0, 2, 3, 1)).flatten(1))
    return function_layer(lambda x: x.flatten(1))


def add(place: Place) -> Layer:
    def total(first: Any, second: Any, *rest: Any) -> Any:
        out = first + second
        for x in rest:
            out = out + x
        return out

    return function_layer(total)


def multiply(place: Place) -> Layer:
    x, y = place.shapes
    if x == y:
        return function_layer(lambda a, b: a * b)
    if len(x) == 3:
        return function_layer(lambda a, b: a * b.reshape((place.batch, -1, 1, 1)))
    return function_layer(lambda a, b: a * b.reshape((place.batch, 1, -1)))


def scale(place: Place) -> Layer:
    import paddle

    return function_layer(lambda x: paddle.scale(x, place.op.factor))


def pad(place: Place) -> Layer:
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


def concat(place: Place) -> Layer:
    import paddle

    axis = 1 if len(place.shapes[0]) == 3 else -1
    return function_layer(lambda *xs: paddle.concat(xs, axis))


TABLE: dict[type, Callable[[Place], Layer]] = {
    ops.Conv2d: conv2d,
    ops.MaxPool: max_pool,
    ops.AvgPool: avg_pool,
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


def build_network(graph: Graph, weights: Weights, case: Case) -> tuple[Any, dict[str, Arrays]]:
    """The paddle.nn.Layer, and for each of the graph's arrays its tensor and the ways there and back."""
    import paddle

    orders = row_orders(graph)
    built: dict[str, Layer] = {}
    arrays: dict[str, Arrays] = {}
    for node in graph.nodes[1:]:
        make = TABLE.get(type(node.op))
        if make is None:
            raise Unsupported(f"paddle has no operator {type(node.op).__name__}")
        built[node.name] = make(Place(graph, node, case, orders, built))
        arrays.update({f"{node.name}/{name}": entry for name, entry in built[node.name].arrays.items()})
    for name, (owner, attribute, forth, _) in arrays.items():
        assign(getattr(owner, attribute), forth(weights[name]))
    steps = [(node.name, node.inputs, built[node.name].module) for node in graph.nodes[1:]]

    class Network(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for i, (_, _, module) in enumerate(steps):
                self.add_sublayer(f"layer{i}", module)

        @paddle.jit.not_to_static  # type: ignore[untyped-decorator]
        def run(self, x: Any) -> Any:
            """Nothing here depends on values: tracing sees plain calls, and no source needs to be rewritten."""
            values = {graph.input.name: x}
            for name, inputs, module in steps:
                values[name] = module(*[values[i] for i in inputs])
            return values[graph.output]

        def forward(self, x: Any) -> Any:
            return self.run(x)

    return Network(), arrays


def assign(tensor: Any, array: Any) -> None:
    """In the tensor's own type."""
    import paddle

    tensor.set_value(paddle.to_tensor(np.ascontiguousarray(array)).astype(tensor.dtype))

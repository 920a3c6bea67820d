"""The graph as an ONNX model for inference, written with the onnx package's own helpers.

Images are NCHW, as ONNX wants them: the batch is fed in that order, kernels are turned once, and a flatten that only
reaches dense layers costs nothing, because the rows of their weights are reordered instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steptime.core.backends.base import Array, Weights
from steptime.core.backends.channels_first import (
    CONV_KERNEL,
    channel_axis,
    dense_rows,
    row_orders,
    shape_first,
    to_channels_first,
    to_channels_last,
)
from steptime.core.backends.onnx_export import sequence
from steptime.core.backends.onnx_export.writer import Writer
from steptime.core.backends.translate import OperatorTable, Place, walk
from steptime.core.backends.windows import reach
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph

OPSET, IR_VERSION = 20, 10
INPUT, OUTPUT = "input", "output"


TABLE = OperatorTable("the ONNX export", sequence.TABLE)
# Entries are functions of (writer, place, names of inputs), which write nodes and return the name of their output.


@TABLE.entry(ops.Conv2d)
def conv2d(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    _, kernel, strides, dilation, pads = op.window(place.shapes[0])
    inputs = [*xs, w.weight(node, "kernel", CONV_KERNEL[0])]
    if op.bias:
        inputs.append(w.weight(node, "bias"))
    return w(
        "Conv",
        node,
        inputs,
        kernel_shape=kernel,
        strides=strides,
        dilations=dilation,
        pads=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]],
        group=op.groups,
    )


@TABLE.entry(ops.MaxPool, ops.AvgPool)
def pool(w: Writer, place: Place, xs: list[str]) -> str:
    """Ceil mode is written as padding at the end, which is the same and which every runtime agrees on."""
    op, node, (x,) = place.op, place.node, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    ends = [after for _, after in reach(op, x)]
    geometry: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": [pads[0][0], pads[1][0], *ends]}
    if isinstance(op, ops.MaxPool):
        return w("MaxPool", node, xs, **geometry)
    assert isinstance(op, ops.AvgPool)
    if op.count_padding and ends != [pads[0][1], pads[1][1]]:
        raise Unsupported("the ONNX export has no AvgPool that counts padding and hangs over the edge")
    return w("AveragePool", node, xs, count_include_pad=int(op.count_padding), **geometry)


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    return w("Flatten", node, [w("GlobalAveragePool", node, xs, "pooled")])


@TABLE.entry(ops.Dense)
def dense(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    kernel = w.weight(node, "kernel", dense_rows(place.row_order)[0])
    bias = [w.weight(node, "bias")] if op.bias else []
    if len(place.shapes[0]) == 1:
        return w("Gemm", node, [*xs, kernel, *bias])
    product = w("MatMul", node, [*xs, kernel], "product" if bias else "")
    return w("Add", node, [product, *bias]) if bias else product


@TABLE.entry(ops.BatchNorm)
def batch_norm(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    if len(place.shapes[0]) == 3:
        c = place.shapes[0][2]
        gamma = w.weight(node, "gamma") if op.scale else w.constant(node, "gamma", np.ones(c))
        beta = w.weight(node, "beta") if op.center else w.constant(node, "beta", np.zeros(c))
        statistics = [w.weight(node, "mean"), w.weight(node, "variance")]
        return w("BatchNormalization", node, [*xs, gamma, beta, *statistics], epsilon=op.epsilon)
    factor = (w.array(node, "gamma") if op.scale else 1.0) / np.sqrt(w.array(node, "variance") + op.epsilon)
    offset = (w.array(node, "beta") if op.center else 0.0) - w.array(node, "mean") * factor
    scaled = w("Mul", node, [*xs, w.constant(node, "factor", factor)], "scaled")
    return w("Add", node, [scaled, w.constant(node, "offset", offset)])


@TABLE.entry(ops.LRN)
def lrn(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    size = 2 * op.radius + 1
    return w("LRN", node, xs, size=size, alpha=op.alpha * size, beta=op.beta, bias=op.bias)


@TABLE.entry(ops.Activation)
def activation(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    if op.kind == "relu6":
        return w("Clip", node, [*xs, w.constant(node, "low", 0), w.constant(node, "high", 6)])
    if op.kind == "silu":
        return w("Mul", node, [*xs, w("Sigmoid", node, xs, "gate")])
    if op.kind.startswith("gelu"):
        return w("Gelu", node, xs, approximate="tanh" if op.kind == "gelu_tanh" else "none")
    return w({"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}[op.kind], node, xs)


@TABLE.entry(ops.Dropout)
def dropout(w: Writer, place: Place, xs: list[str]) -> str:
    return xs[0]


@TABLE.entry(ops.Flatten)
def flatten(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    if len(place.shapes[0]) == 3 and not place.keeps_order:
        xs = [w("Transpose", node, xs, "last", perm=(0, 2, 3, 1))]
    return w("Flatten", node, xs)


@TABLE.entry(ops.Add)
def add(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    total = xs[0]
    for i, x in enumerate(xs[1:], 2):
        total = w("Add", node, [total, x], f"sum{i}" if i < len(xs) else "")
    return total


@TABLE.entry(ops.Multiply)
def multiply(w: Writer, place: Place, xs: list[str]) -> str:
    node, (x, y) = place.node, place.shapes
    if x == y:
        return w("Mul", node, xs)
    axes = w.shape(node, "axes", *((2, 3) if len(x) == 3 else (1,)))
    return w("Mul", node, [xs[0], w("Unsqueeze", node, [xs[1], axes], "wide")])


@TABLE.entry(ops.Scale)
def scale(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    return w("Mul", node, [*xs, w.constant(node, "factor", op.factor)])


@TABLE.entry(ops.Pad)
def pad(w: Writer, place: Place, xs: list[str]) -> str:
    op, node = place.op, place.node
    begins, ends = zip(op.channels, op.rows, op.columns)
    return w("Pad", node, [*xs, w.shape(node, "pads", 0, *begins, 0, *ends)])


@TABLE.entry(ops.Concat)
def concat(w: Writer, place: Place, xs: list[str]) -> str:
    node = place.node
    return w("Concat", node, xs, axis=channel_axis(place.shapes[0]))


def natural_input(graph: Graph, inputs: Array, dtype: Any) -> Array:
    """The batch as the model takes it: NCHW, contiguous."""
    inputs = to_channels_first(inputs)
    return np.ascontiguousarray(inputs if graph.input_op.kind == "int" else inputs.astype(dtype))


def graph_output(array: Array) -> Array:
    """The model's output as the graph has it: NHWC, float64."""
    return to_channels_last(array).astype(np.float64)


def export(graph: Graph, weights: Weights, batch: int, dtype: Any = np.float32) -> Any:
    """An onnx ModelProto with one input and one output of fixed shape."""
    import onnx
    from onnx import helper, numpy_helper

    TABLE.check(graph)
    w, orders = Writer(graph, weights, batch, np.dtype(dtype)), row_orders(graph)
    output = walk(graph, INPUT, lambda node, xs: TABLE[type(node.op)](w, Place(graph, node, orders=orders), xs))
    w.nodes.append(helper.make_node("Identity", [output], [OUTPUT], OUTPUT))
    element = helper.np_dtype_to_tensor_dtype(w.dtype)
    fed = onnx.TensorProto.INT64 if graph.input_op.kind == "int" else element
    body = helper.make_graph(
        w.nodes,
        graph.name,
        [helper.make_tensor_value_info(INPUT, fed, (batch, *shape_first(graph.input.shape)))],
        [helper.make_tensor_value_info(OUTPUT, element, (batch, *shape_first(graph.output_shape)))],
        [numpy_helper.from_array(array, name) for name, array in w.constants.items()],
    )
    return finished(body)


def finished(body: Any) -> Any:
    from onnx import helper

    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(body, opset_imports=[opset], ir_version=IR_VERSION, producer_name="steptime")


def square_product(size: int, dtype: Any) -> Any:
    """A model that multiplies a matrix with itself."""
    from onnx import helper

    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    ends = [helper.make_tensor_value_info(name, element, (size, size)) for name in (INPUT, OUTPUT)]
    node = helper.make_node("MatMul", [INPUT, INPUT], [OUTPUT])
    return finished(helper.make_graph([node], "product", ends[:1], ends[1:]))

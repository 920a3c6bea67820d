"""The graph as an ONNX model for inference, written with the onnx package's own helpers.

Images are NCHW, as ONNX wants them: the batch is fed in that order, kernels are turned once, and a flatten that only
reaches dense layers costs nothing, because the rows of their weights are reordered instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Weights
from steptime.core.backends.channels_first import row_orders
from steptime.core.backends.onnx_export import sequence
from steptime.core.backends.windows import reach
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

OPSET, IR_VERSION = 20, 10
INPUT, OUTPUT = "input", "output"


class Writer:
    """Collects ONNX nodes and constants; names of values are the graph's, with a suffix for what lies inside a node."""

    def __init__(self, graph: Graph, weights: Weights, batch: int, dtype: Any) -> None:
        self.graph, self.batch, self.dtype = graph, batch, dtype
        self.orders = row_orders(graph)
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self.names: dict[str, str] = {}
        """of the value that a node of the graph ends in"""
        self._weights = weights

    def weight(self, node: Node, name: str, change: Optional[Callable[[Array], Array]] = None) -> str:
        """The constant that holds a parameter of a node or one that it shares, once."""
        full = self.graph.shared(node).get(name, f"{node.name}/{name}")
        if full not in self.constants:
            array = self._weights[full].astype(self.dtype)
            self.constants[full] = np.ascontiguousarray(array if change is None else change(array))
        return full

    def array(self, node: Node, name: str) -> Array:
        return self._weights[f"{node.name}/{name}"].astype(np.float64)

    def constant(self, node: Node, name: str, value: Any, dtype: Any = None) -> str:
        full = f"{node.name}:{name}"
        self.constants[full] = np.asarray(value, dtype or self.dtype)
        return full

    def shape(self, node: Node, name: str, *sizes: int) -> str:
        return self.constant(node, name, sizes, np.int64)

    def __call__(self, kind: str, node: Node, inputs: Sequence[str], part: str = "", **attributes: Any) -> str:
        """Adds an ONNX node; `part` names what is not yet the result of the graph's node."""
        from onnx import helper

        out = f"{node.name}:{part}" if part else f"{node.name}:out"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], out, **attributes))
        return out


Layer = Callable[[Any, Any, Node, "tuple[ops.Shape, ...]", "list[str]"], str]
"""(writer, operator, node, shapes of one sample, names of inputs) to the name of its output"""


def conv2d(w: Writer, op: ops.Conv2d, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    _, kernel, strides, dilation, pads = op.window(shapes[0])
    inputs = [*xs, w.weight(node, "kernel", lambda a: a.transpose(3, 2, 0, 1))]
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


def pool(w: Writer, op: ops.Pool, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    """Ceil mode is written as padding at the end, which is the same and which every runtime agrees on."""
    (x,) = shapes
    _, kernel, strides, _, pads = op.window(x)
    ends = [after for _, after in reach(op, x)]
    geometry: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": [pads[0][0], pads[1][0], *ends]}
    if isinstance(op, ops.MaxPool):
        return w("MaxPool", node, xs, **geometry)
    assert isinstance(op, ops.AvgPool)
    if op.count_padding and ends != [pads[0][1], pads[1][1]]:
        raise Unsupported("the ONNX export has no AvgPool that counts padding and hangs over the edge")
    return w("AveragePool", node, xs, count_include_pad=int(op.count_padding), **geometry)


def global_avg_pool(w: Writer, op: ops.GlobalAvgPool, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    return w("Flatten", node, [w("GlobalAveragePool", node, xs, "pooled")])


def dense(w: Writer, op: ops.Dense, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    order = w.orders.get(node.inputs[0])
    kernel = w.weight(node, "kernel", None if order is None else lambda a: a[order])
    bias = [w.weight(node, "bias")] if op.bias else []
    if len(shapes[0]) == 1:
        return w("Gemm", node, [*xs, kernel, *bias])
    product = w("MatMul", node, [*xs, kernel], "product" if bias else "")
    return w("Add", node, [product, *bias]) if bias else product


def batch_norm(w: Writer, op: ops.BatchNorm, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    if len(shapes[0]) == 3:
        c = shapes[0][2]
        gamma = w.weight(node, "gamma") if op.scale else w.constant(node, "gamma", np.ones(c))
        beta = w.weight(node, "beta") if op.center else w.constant(node, "beta", np.zeros(c))
        statistics = [w.weight(node, "mean"), w.weight(node, "variance")]
        return w("BatchNormalization", node, [*xs, gamma, beta, *statistics], epsilon=op.epsilon)
    factor = (w.array(node, "gamma") if op.scale else 1.0) / np.sqrt(w.array(node, "variance") + op.epsilon)
    offset = (w.array(node, "beta") if op.center else 0.0) - w.array(node, "mean") * factor
    order = w.orders.get(node.name)
    if order is not None:
        factor, offset = factor[order], offset[order]
    scaled = w("Mul", node, [*xs, w.constant(node, "factor", factor)], "scaled")
    return w("Add", node, [scaled, w.constant(node, "offset", offset)])


def lrn(w: Writer, op: ops.LRN, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    size = 2 * op.radius + 1
    return w("LRN", node, xs, size=size, alpha=op.alpha * size, beta=op.beta, bias=op.bias)


def activation(w: Writer, op: ops.Activation, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    if op.kind == "relu6":
        return w("Clip", node, [*xs, w.constant(node, "low", 0), w.constant(node, "high", 6)])
    if op.kind == "silu":
        return w("Mul", node, [*xs, w("Sigmoid", node, xs, "gate")])
    if op.kind.startswith("gelu"):
        return w("Gelu", node, xs, approximate="tanh" if op.kind == "gelu_tanh" else "none")
    return w({"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}[op.kind], node, xs)


def dropout(w: Writer, op: ops.Dropout, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    return xs[0]


def flatten(w: Writer, op: ops.Flatten, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    if len(shapes[0]) == 3 and node.name not in w.orders:
        xs = [w("Transpose", node, xs, "last", perm=(0, 2, 3, 1))]
    return w("Flatten", node, xs)


def add(w: Writer, op: ops.Add, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    total = xs[0]
    for i, x in enumerate(xs[1:], 2):
        total = w("Add", node, [total, x], f"sum{i}" if i < len(xs) else "")
    return total


def multiply(w: Writer, op: ops.Multiply, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    x, y = shapes
    if x == y:
        return w("Mul", node, xs)
    axes = w.shape(node, "axes", *((2, 3) if len(x) == 3 else (1,)))
    return w("Mul", node, [xs[0], w("Unsqueeze", node, [xs[1], axes], "wide")])


def scale(w: Writer, op: ops.Scale, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    return w("Mul", node, [*xs, w.constant(node, "factor", op.factor)])


def pad(w: Writer, op: ops.Pad, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    begins, ends = zip(op.channels, op.rows, op.columns)
    return w("Pad", node, [*xs, w.shape(node, "pads", 0, *begins, 0, *ends)])


def concat(w: Writer, op: ops.Concat, node: Node, shapes: tuple[ops.Shape, ...], xs: list[str]) -> str:
    return w("Concat", node, xs, axis=1 if len(shapes[0]) == 3 else -1)


TABLE: dict[type, Layer] = {
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


def channels_first(shape: ops.Shape) -> ops.Shape:
    return (shape[2], shape[0], shape[1]) if len(shape) == 3 else shape


def natural_input(graph: Graph, inputs: Array, dtype: Any) -> Array:
    """The batch as the model takes it: NCHW, contiguous."""
    if len(graph.input.shape) == 3:
        inputs = inputs.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(inputs if graph.input_op.kind == "int" else inputs.astype(dtype))


def graph_output(array: Array) -> Array:
    """The model's output as the graph has it: NHWC, float64."""
    return (array.transpose(0, 2, 3, 1) if array.ndim == 4 else array).astype(np.float64)


def export(graph: Graph, weights: Weights, batch: int, dtype: Any = np.float32) -> Any:
    """An onnx ModelProto with one input and one output of fixed shape."""
    import onnx
    from onnx import helper, numpy_helper

    w = Writer(graph, weights, batch, np.dtype(dtype))
    w.names[graph.input.name] = INPUT
    for node in graph.nodes[1:]:
        write = TABLE.get(type(node.op))
        if write is None:
            raise Unsupported(f"the ONNX export has no operator {type(node.op).__name__}")
        w.names[node.name] = write(w, node.op, node, graph.input_shapes(node), [w.names[i] for i in node.inputs])
    w.nodes.append(helper.make_node("Identity", [w.names[graph.output]], [OUTPUT], OUTPUT))
    element = helper.np_dtype_to_tensor_dtype(w.dtype)
    fed = onnx.TensorProto.INT64 if graph.input_op.kind == "int" else element
    body = helper.make_graph(
        w.nodes,
        graph.name,
        [helper.make_tensor_value_info(INPUT, fed, (batch, *channels_first(graph.input.shape)))],
        [helper.make_tensor_value_info(OUTPUT, element, (batch, *channels_first(graph.output_shape)))],
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

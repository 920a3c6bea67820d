"""The operators as Caffe's layers, and how a graph of them becomes the text of a network. Images are NCHW."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from steptime.core.backends.caffe.text import Word, message
from steptime.core.backends.caffe.writer import Link, Writer
from steptime.core.backends.channels_first import dense_kernel
from steptime.core.backends.windows import reach, window_counts
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

DATA, LABEL, LOSS = "data", "label", "loss"
ADAM_DELTA = 3.1622776e-10
"""Caffe adds it before the bias is corrected: this is what 1e-8 afterwards comes to in the first step"""
LOWEST = float(np.finfo(np.float32).min)
Shapes = tuple[ops.Shape, ...]
Emit = Callable[[Writer, Node, Any, Shapes, "list[str]"], str]
"""(writer, node, operator, shapes of one sample, names of input blobs) to the name of the output blob"""


def conv2d(w: Writer, node: Node, op: ops.Conv2d, shapes: Shapes, xs: list[str]) -> str:
    _, kernel, strides, dilation, pads = op.window(shapes[0])
    even = all(before == after for before, after in pads)
    x = xs[0] if even else w.padded(node.name, xs[0], shapes[0], pads)
    w.links[f"{node.name}/kernel"] = Link(node.name, 0, lambda a: a.transpose(3, 2, 0, 1), lambda a: a.transpose(2, 3, 1, 0))
    if op.bias:
        w.links[f"{node.name}/bias"] = Link(node.name, 1)
    fields: dict[str, Any] = {
        "num_output": op.filters,
        "bias_term": op.bias,
        "pad": [pads[0][0], pads[1][0]] if even else [0, 0],
        "kernel_size": list(kernel),
        "stride": list(strides),
        "dilation": list(dilation),
        "group": op.groups,
    }
    return w("Convolution", node.name, [x], node.name, convolution_param=fields)


def pooled_size(size: int, kernel: int, stride: int, pad: int, ceil: bool, clips: bool) -> int:
    """As Caffe computes it: with any padding, a window that would begin outside the image is dropped."""
    steps = (size + 2 * pad - kernel) / stride
    out = (math.ceil(steps) if ceil else math.floor(steps)) + 1
    return out - 1 if clips and (out - 1) * stride >= size + pad else out


def rounding(op: ops.Pool, x: ops.Shape) -> str:
    """The round_mode with which Caffe's windows are the operator's, from the padding before on; empty if none is."""
    size, kernel, strides, _, pads = op.window(x)
    clips = any(before for before, _ in pads)
    for mode, ceil in (("FLOOR", False), ("CEIL", True)):
        if size == tuple(pooled_size(x[i], kernel[i], strides[i], pads[i][0], ceil, clips) for i in (0, 1)):
            return mode
    return ""


def pool(w: Writer, node: Node, op: ops.Pool, shapes: Shapes, xs: list[str]) -> str:
    (x,) = shapes
    size, kernel, strides, _, pads = op.window(x)
    average, mode, blob = isinstance(op, ops.AvgPool), rounding(op, x), xs[0]
    before, outer = (pads[0][0], pads[1][0]), (x[0] + pads[0][0], x[1] + pads[1][0])
    if not mode:
        whole = reach(op, x)
        blob = w.padded(node.name, blob, x, whole, 0.0 if average else LOWEST)
        mode, before, outer = "FLOOR", (0, 0), (x[0] + sum(whole[0]), x[1] + sum(whole[1]))
    fields = {
        "pool": Word("AVE" if average else "MAX"),
        "pad_h": before[0],
        "pad_w": before[1],
        "kernel_h": kernel[0],
        "kernel_w": kernel[1],
        "stride_h": strides[0],
        "stride_w": strides[1],
        "round_mode": Word(mode),
    }
    y = w("Pooling", node.name, [blob], node.name, pooling_param=fields)
    if not isinstance(op, ops.AvgPool):
        return y
    ends = [np.minimum(np.arange(size[i]) * strides[i] - before[i] + kernel[i], outer[i]) for i in (0, 1)]
    begins = [np.arange(size[i]) * strides[i] - before[i] for i in (0, 1)]
    share = np.outer(ends[0] - begins[0], ends[1] - begins[1]) / window_counts(op, x)
    return y if (share == 1).all() else weighed(w, node, y, share)


def weighed(w: Writer, node: Node, blob: str, share: Any) -> str:
    """Each pixel times a constant: Caffe counts padded pixels in a mean, the operator does not."""
    name = f"{node.name}/counted"
    w.fixed[name] = share
    return w("Scale", name, [blob], name, param={"lr_mult": 0.0, "decay_mult": 0.0}, scale_param={"axis": 2, "num_axes": 2})


def global_avg_pool(w: Writer, node: Node, op: ops.GlobalAvgPool, shapes: Shapes, xs: list[str]) -> str:
    mean = f"{node.name}/mean"
    w("Pooling", mean, xs, mean, pooling_param={"pool": Word("AVE"), "global_pooling": True})
    return w("Flatten", node.name, [mean], node.name)


def dense(w: Writer, node: Node, op: ops.Dense, shapes: Shapes, xs: list[str]) -> str:
    w.links[f"{node.name}/kernel"] = Link(node.name, 0, *dense_kernel(w.orders.get(node.inputs[0])))
    if op.bias:
        w.links[f"{node.name}/bias"] = Link(node.name, 1)
    fields = {"num_output": op.units, "bias_term": op.bias, "axis": len(shapes[0])}
    return w("InnerProduct", node.name, xs, node.name, inner_product_param=fields)


def batch_norm(w: Writer, node: Node, op: ops.BatchNorm, shapes: Shapes, xs: list[str]) -> str:
    """Caffe keeps sums and their weight. With a weight of 1 / (1 - momentum) the mean is the usual moving average."""
    if len(shapes[0]) == 2:
        raise Unsupported("caffe has no operator BatchNorm over positions")
    weight = 1 / (1 - op.momentum)
    top = xs[0] if w.may_overwrite(node) else node.name
    for i, name in enumerate(("mean", "variance")):
        w.links[f"{node.name}/{name}"] = Link(node.name, i, lambda a: a * weight, lambda a: a / weight)
    w.fixed[f"{node.name}:2"] = np.array([weight])
    w("BatchNorm", node.name, xs, top, batch_norm_param={"moving_average_fraction": op.momentum, "eps": op.epsilon})
    affine = f"{node.name}/affine"
    if op.scale:
        w.links[f"{node.name}/gamma"] = Link(affine, 0)
        if op.center:
            w.links[f"{node.name}/beta"] = Link(affine, 1)
        return w("Scale", affine, [top], top, scale_param={"bias_term": op.center})
    if op.center:
        w.links[f"{node.name}/beta"] = Link(affine, 0)
        return w("Bias", affine, [top], top)
    return top


def lrn(w: Writer, node: Node, op: ops.LRN, shapes: Shapes, xs: list[str]) -> str:
    size = 2 * op.radius + 1
    fields = {"local_size": size, "alpha": op.alpha * size, "beta": op.beta, "k": op.bias}
    return w("LRN", node.name, xs, node.name, lrn_param=fields)


def activation(w: Writer, node: Node, op: ops.Activation, shapes: Shapes, xs: list[str]) -> str:
    if op.kind == "relu6":
        return w("Clip", node.name, xs, node.name, clip_param={"min": 0.0, "max": 6.0})
    if op.kind == "silu":
        return w("Swish", node.name, xs, node.name)
    kind = {"relu": "ReLU", "tanh": "TanH", "sigmoid": "Sigmoid"}[op.kind]
    return w(kind, node.name, xs, xs[0] if w.may_overwrite(node) else node.name)


def dropout(w: Writer, node: Node, op: ops.Dropout, shapes: Shapes, xs: list[str]) -> str:
    """After a rectifier too: a value's sign is all that its backward pass needs, and dropout keeps it or stops the gradient."""
    if op.rate == 0:
        return xs[0]
    producer = w.graph.by_name[node.inputs[0]].op
    rectified = (ops.Activation,) if isinstance(producer, ops.Activation) and producer.kind == "relu" else ()
    top = xs[0] if w.may_overwrite(node, rectified) else node.name
    return w("Dropout", node.name, xs, top, dropout_param={"dropout_ratio": op.rate})


def flatten(w: Writer, node: Node, op: ops.Flatten, shapes: Shapes, xs: list[str]) -> str:
    if len(shapes[0]) == 3 and node.name not in w.orders:
        raise Unsupported("caffe has no operator that transposes: Flatten can only lead to Dense")
    return w("Flatten", node.name, xs, node.name)


def add(w: Writer, node: Node, op: ops.Add, shapes: Shapes, xs: list[str]) -> str:
    return w("Eltwise", node.name, xs, node.name, eltwise_param={"operation": Word("SUM")})


def multiply(w: Writer, node: Node, op: ops.Multiply, shapes: Shapes, xs: list[str]) -> str:
    if shapes[0] == shapes[1]:
        return w("Eltwise", node.name, xs, node.name, eltwise_param={"operation": Word("PROD")})
    if len(shapes[0]) == 2:
        raise Unsupported("caffe has no operator Multiply of positions by channel weights")
    return w("Scale", node.name, xs, node.name, scale_param={"axis": 0})


def scale(w: Writer, node: Node, op: ops.Scale, shapes: Shapes, xs: list[str]) -> str:
    return w("Power", node.name, xs, node.name, power_param={"scale": op.factor})


def pad(w: Writer, node: Node, op: ops.Pad, shapes: Shapes, xs: list[str]) -> str:
    kept = [size + min(before, 0) + min(after, 0) for size, (before, after) in zip(shapes[0], op.pads)]
    blob, offsets = xs[0], [max(-before, 0) for before, _ in op.pads]
    if tuple(kept) != shapes[0]:
        frame = w.input(f"{node.name}/frame", (w.batch, kept[2], kept[0], kept[1]))
        fields = {"axis": 1, "offset": [offsets[2], offsets[0], offsets[1]]}
        blob = w("Crop", f"{node.name}/crop", [blob, frame], f"{node.name}/crop", crop_param=fields)
    grown = tuple((max(before, 0), max(after, 0)) for before, after in op.pads)
    return w.padded(node.name, blob, tuple(kept), grown)


def concat(w: Writer, node: Node, op: ops.Concat, shapes: Shapes, xs: list[str]) -> str:
    axis = 1 if len(shapes[0]) == 3 else len(shapes[0])
    return w("Concat", node.name, xs, node.name, concat_param={"axis": axis})


def embedding(w: Writer, node: Node, op: ops.Embedding, shapes: Shapes, xs: list[str]) -> str:
    w.links[f"{node.name}/table"] = Link(node.name, 0)
    fields = {"num_output": op.units, "input_dim": op.vocabulary, "bias_term": False}
    return w("Embed", node.name, xs, node.name, embed_param=fields)


TABLE: dict[type, Emit] = {
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
    ops.Embedding: embedding,
}


def lacking(graph: Graph) -> list[str]:
    """The operators of the graph that Caffe does not have, in words."""
    found = set()
    for node in graph.nodes[1:]:
        if isinstance(node.op, ops.Activation) and node.op.kind.startswith("gelu"):
            found.add(f"Activation {node.op.kind}")
        elif type(node.op) not in TABLE:
            found.add(type(node.op).__name__)
    return sorted(found)


def channels_first(shape: ops.Shape) -> ops.Shape:
    return (shape[2], shape[0], shape[1]) if len(shape) == 3 else shape


def write(graph: Graph, batch: int, training: bool) -> Writer:
    """All layers; those of the loss in training only."""
    if lacking(graph):
        raise Unsupported(f"caffe has no operator {', '.join(lacking(graph))}")
    w = Writer(graph, batch)
    w.blobs[graph.input.name] = w.input(DATA, (batch, *channels_first(graph.input.shape)))
    for node in graph.nodes[1:]:
        emit = TABLE[type(node.op)]
        w.blobs[node.name] = emit(w, node, node.op, graph.input_shapes(node), [w.blobs[i] for i in node.inputs])
    if training:
        _write_loss(w, graph)
    return w


def _write_loss(w: Writer, graph: Graph) -> None:
    outputs = w.blobs[graph.output]
    if graph.loss == "l2":
        fields: dict[str, Any] = {"operation": Word("SUMSQ"), "coeff": 0.5}
        w("Reduction", LOSS, [outputs], LOSS, loss_weight=1.0, reduction_param=fields)
        return
    labels = w.input(LABEL, (w.batch, *graph.output_shape[:-1]))
    w("SoftmaxWithLoss", LOSS, [outputs, labels], LOSS, softmax_param={"axis": len(graph.output_shape)})


def net_text(name: str, w: Writer) -> str:
    return message({"name": name, "layer": w.layers})


def solver_text(net: str, optimizer: str, learning_rate: float, seed: int) -> str:
    """A solver with the network inside."""
    fields: dict[str, Any] = {
        "type": "Adam" if optimizer == "adam" else "SGD",
        "base_lr": learning_rate,
        "lr_policy": "fixed",
        "momentum": 0.0 if optimizer == "sgd" else 0.9,
        **({"momentum2": 0.999, "delta": ADAM_DELTA} if optimizer == "adam" else {}),
        "solver_mode": Word("CPU"),
        "random_seed": seed,
        "display": 0,
        "snapshot_after_train": False,
    }
    indented = "".join(f"  {line}\n" for line in net.splitlines())
    return f"{message(fields)}net_param {{\n{indented}}}\n"

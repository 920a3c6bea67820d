"""The operators as Caffe's layers, and how a graph of them becomes the text of a network. Images are NCHW."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steptime.core.backends.caffe.text import Word, message
from steptime.core.backends.caffe.writer import OVERWRITABLE, Writer
from steptime.core.backends.channels_first import CONV_KERNEL, channel_axis, dense_kernel, row_orders, shape_first
from steptime.core.backends.translate import Link, OperatorTable, Place, walk
from steptime.core.backends.windows import reach, window_counts
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph
from steptime.core.reference.optimizers import ADAM_BETAS, MOMENTUM

DATA, LABEL, LOSS = "data", "label", "loss"
ADAM_DELTA = 3.1622776e-10
"""Caffe adds it before the bias is corrected: this is what 1e-8 afterwards comes to in the first step"""
LOWEST = float(np.finfo(np.float32).min)


class CaffeTable(OperatorTable):
    def lacking(self, graph: Graph) -> list[str]:
        """Caffe has some kinds of activation, and others not."""
        kinds = {node.op.kind for node in graph.nodes if isinstance(node.op, ops.Activation)}
        return sorted([*super().lacking(graph), *(f"Activation {kind}" for kind in kinds if kind.startswith("gelu"))])


TABLE = CaffeTable("caffe")
# Entries are functions of (writer, place, names of input blobs), which write layers and return the name of the output blob.


@TABLE.entry(ops.Conv2d)
def conv2d(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    _, kernel, strides, dilation, pads = op.window(place.shapes[0])
    even = all(before == after for before, after in pads)
    x = xs[0] if even else w.padded(name, xs[0], place.shapes[0], pads)
    w.links[f"{name}/kernel"] = Link((name, 0), *CONV_KERNEL)
    if op.bias:
        w.links[f"{name}/bias"] = Link((name, 1))
    fields: dict[str, Any] = {
        "num_output": op.filters,
        "bias_term": op.bias,
        "pad": [pads[0][0], pads[1][0]] if even else [0, 0],
        "kernel_size": list(kernel),
        "stride": list(strides),
        "dilation": list(dilation),
        "group": op.groups,
    }
    return w("Convolution", name, [x], name, convolution_param=fields)


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


@TABLE.entry(ops.MaxPool, ops.AvgPool)
def pool(w: Writer, place: Place, xs: list[str]) -> str:
    op, name, (x,) = place.op, place.name, place.shapes
    size, kernel, strides, _, pads = op.window(x)
    average, mode, blob = isinstance(op, ops.AvgPool), rounding(op, x), xs[0]
    before, outer = (pads[0][0], pads[1][0]), (x[0] + pads[0][0], x[1] + pads[1][0])
    if not mode:
        whole = reach(op, x)
        blob = w.padded(name, blob, x, whole, 0.0 if average else LOWEST)
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
    y = w("Pooling", name, [blob], name, pooling_param=fields)
    if not isinstance(op, ops.AvgPool):
        return y
    ends = [np.minimum(np.arange(size[i]) * strides[i] - before[i] + kernel[i], outer[i]) for i in (0, 1)]
    begins = [np.arange(size[i]) * strides[i] - before[i] for i in (0, 1)]
    share = np.outer(ends[0] - begins[0], ends[1] - begins[1]) / window_counts(op, x)
    return y if (share == 1).all() else weighed(w, name, y, share)


def weighed(w: Writer, name: str, blob: str, share: Any) -> str:
    """Each pixel times a constant: Caffe counts padded pixels in a mean, the operator does not."""
    counted = f"{name}/counted"
    w.fixed[counted] = share
    return w("Scale", counted, [blob], counted, param={"lr_mult": 0.0, "decay_mult": 0.0}, scale_param={"axis": 2, "num_axes": 2})


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(w: Writer, place: Place, xs: list[str]) -> str:
    name = place.name
    mean = f"{name}/mean"
    w("Pooling", mean, xs, mean, pooling_param={"pool": Word("AVE"), "global_pooling": True})
    return w("Flatten", name, [mean], name)


@TABLE.entry(ops.Dense)
def dense(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    w.links[f"{name}/kernel"] = Link((name, 0), *dense_kernel(place.row_order))
    if op.bias:
        w.links[f"{name}/bias"] = Link((name, 1))
    fields = {"num_output": op.units, "bias_term": op.bias, "axis": len(place.shapes[0])}
    return w("InnerProduct", name, xs, name, inner_product_param=fields)


@TABLE.entry(ops.BatchNorm)
def batch_norm(w: Writer, place: Place, xs: list[str]) -> str:
    """Caffe keeps sums and their weight. With a weight of 1 / (1 - momentum) the mean is the usual moving average."""
    op, name = place.op, place.name
    if len(place.shapes[0]) == 2:
        raise Unsupported("caffe has no operator BatchNorm over positions")
    weight = 1 / (1 - op.momentum)
    top = xs[0] if place.may_overwrite(OVERWRITABLE) else name
    for i, statistic in enumerate(("mean", "variance")):
        w.links[f"{name}/{statistic}"] = Link((name, i), lambda a: a * weight, lambda a: a / weight)
    w.fixed[f"{name}:2"] = np.array([weight])
    w("BatchNorm", name, xs, top, batch_norm_param={"moving_average_fraction": op.momentum, "eps": op.epsilon})
    affine = f"{name}/affine"
    if op.scale:
        w.links[f"{name}/gamma"] = Link((affine, 0))
        if op.center:
            w.links[f"{name}/beta"] = Link((affine, 1))
        return w("Scale", affine, [top], top, scale_param={"bias_term": op.center})
    if op.center:
        w.links[f"{name}/beta"] = Link((affine, 0))
        return w("Bias", affine, [top], top)
    return top


@TABLE.entry(ops.LRN)
def lrn(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    size = 2 * op.radius + 1
    fields = {"local_size": size, "alpha": op.alpha * size, "beta": op.beta, "k": op.bias}
    return w("LRN", name, xs, name, lrn_param=fields)


@TABLE.entry(ops.Activation)
def activation(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    if op.kind == "relu6":
        return w("Clip", name, xs, name, clip_param={"min": 0.0, "max": 6.0})
    if op.kind == "silu":
        return w("Swish", name, xs, name)
    kind = {"relu": "ReLU", "tanh": "TanH", "sigmoid": "Sigmoid"}[op.kind]
    return w(kind, name, xs, xs[0] if place.may_overwrite(OVERWRITABLE) else name)


@TABLE.entry(ops.Dropout)
def dropout(w: Writer, place: Place, xs: list[str]) -> str:
    """After a rectifier too: a value's sign is all that its backward pass needs, and dropout keeps it or stops the gradient."""
    op, name = place.op, place.name
    if op.rate == 0:
        return xs[0]
    producer = w.graph.by_name[place.node.inputs[0]].op
    rectified = (ops.Activation,) if isinstance(producer, ops.Activation) and producer.kind == "relu" else ()
    top = xs[0] if place.may_overwrite((*OVERWRITABLE, *rectified)) else name
    return w("Dropout", name, xs, top, dropout_param={"dropout_ratio": op.rate})


@TABLE.entry(ops.Flatten)
def flatten(w: Writer, place: Place, xs: list[str]) -> str:
    if len(place.shapes[0]) == 3 and not place.keeps_order:
        raise Unsupported("caffe has no operator that transposes: Flatten can only lead to Dense")
    return w("Flatten", place.name, xs, place.name)


@TABLE.entry(ops.Add)
def add(w: Writer, place: Place, xs: list[str]) -> str:
    return w("Eltwise", place.name, xs, place.name, eltwise_param={"operation": Word("SUM")})


@TABLE.entry(ops.Multiply)
def multiply(w: Writer, place: Place, xs: list[str]) -> str:
    name = place.name
    if place.shapes[0] == place.shapes[1]:
        return w("Eltwise", name, xs, name, eltwise_param={"operation": Word("PROD")})
    if len(place.shapes[0]) == 2:
        raise Unsupported("caffe has no operator Multiply of positions by channel weights")
    return w("Scale", name, xs, name, scale_param={"axis": 0})


@TABLE.entry(ops.Scale)
def scale(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    return w("Power", name, xs, name, power_param={"scale": op.factor})


@TABLE.entry(ops.Pad)
def pad(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    kept = [size + min(before, 0) + min(after, 0) for size, (before, after) in zip(place.shapes[0], op.pads)]
    blob, offsets = xs[0], [max(-before, 0) for before, _ in op.pads]
    if tuple(kept) != place.shapes[0]:
        frame = w.input(f"{name}/frame", (w.batch, kept[2], kept[0], kept[1]))
        fields = {"axis": 1, "offset": [offsets[2], offsets[0], offsets[1]]}
        blob = w("Crop", f"{name}/crop", [blob, frame], f"{name}/crop", crop_param=fields)
    grown = tuple((max(before, 0), max(after, 0)) for before, after in op.pads)
    return w.padded(name, blob, tuple(kept), grown)


@TABLE.entry(ops.Concat)
def concat(w: Writer, place: Place, xs: list[str]) -> str:
    return w("Concat", place.name, xs, place.name, concat_param={"axis": channel_axis(place.shapes[0])})


@TABLE.entry(ops.Embedding)
def embedding(w: Writer, place: Place, xs: list[str]) -> str:
    op, name = place.op, place.name
    w.links[f"{name}/table"] = Link((name, 0))
    fields = {"num_output": op.units, "input_dim": op.vocabulary, "bias_term": False}
    return w("Embed", name, xs, name, embed_param=fields)


def write(graph: Graph, batch: int, training: bool) -> Writer:
    """All layers; those of the loss in training only."""
    TABLE.check(graph)
    w, orders = Writer(graph, batch), row_orders(graph)
    data = w.input(DATA, (batch, *shape_first(graph.input.shape)))
    w.output = walk(graph, data, lambda node, xs: TABLE[type(node.op)](w, Place(graph, node, orders=orders), xs))
    if training:
        _write_loss(w, graph)
    return w


def _write_loss(w: Writer, graph: Graph) -> None:
    if graph.loss == "l2":
        fields: dict[str, Any] = {"operation": Word("SUMSQ"), "coeff": 0.5}
        w("Reduction", LOSS, [w.output], LOSS, loss_weight=1.0, reduction_param=fields)
        return
    labels = w.input(LABEL, (w.batch, *graph.output_shape[:-1]))
    w("SoftmaxWithLoss", LOSS, [w.output, labels], LOSS, softmax_param={"axis": len(graph.output_shape)})


def net_text(name: str, w: Writer) -> str:
    return message({"name": name, "layer": w.layers})


def solver_text(net: str, optimizer: str, learning_rate: float, seed: int) -> str:
    """A solver with the network inside."""
    fields: dict[str, Any] = {
        "type": "Adam" if optimizer == "adam" else "SGD",
        "base_lr": learning_rate,
        "lr_policy": "fixed",
        "momentum": 0.0 if optimizer == "sgd" else MOMENTUM,
        **({"momentum2": ADAM_BETAS[1], "delta": ADAM_DELTA} if optimizer == "adam" else {}),
        "solver_mode": Word("CPU"),
        "random_seed": seed,
        "display": 0,
        "snapshot_after_train": False,
    }
    indented = "".join(f"  {line}\n" for line in net.splitlines())
    return f"{message(fields)}net_param {{\n{indented}}}\n"

"""The operators in PyTorch, and how a graph of them becomes a torch.fx module."""

from __future__ import annotations

import functools
import keyword
import math
from operator import add as plus
from typing import Any, Callable

import numpy as np

from steptime.core.backends.base import Weights
from steptime.core.backends.channels_first import CONV_KERNEL, ceil_reaches, channel_axis, dense_kernel, row_orders
from steptime.core.backends.pytorch import sequence
from steptime.core.backends.pytorch.layer import INPLACE_SAFE, TorchPlace, function_module
from steptime.core.backends.translate import Layer, Link, OperatorTable, all_links, build_layers, identifier, walk
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

TABLE = OperatorTable("pytorch", sequence.TABLE)


@TABLE.entry(ops.Conv2d)
def conv2d(place: TorchPlace) -> Layer:
    import torch

    op, (x,) = place.op, place.shapes
    _, kernel, strides, dilation, pads = op.window(x)
    symmetric = all(a == b for a, b in pads)
    conv = torch.nn.Conv2d(
        x[2], op.filters, kernel, strides, (pads[0][0], pads[1][0]) if symmetric else 0, dilation, op.groups, op.bias
    )
    links = {"kernel": Link((conv, "weight"), *CONV_KERNEL)}
    if op.bias:
        links["bias"] = Link((conv, "bias"))
    return Layer(conv if symmetric else torch.nn.Sequential(torch.nn.ZeroPad2d((*pads[1], *pads[0])), conv), links)


@TABLE.entry(ops.MaxPool, ops.AvgPool)
def pool(place: TorchPlace) -> Layer:
    import torch

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, pads = op.window(x)
    if isinstance(op, ops.MaxPool):
        make: Callable[..., Any] = torch.nn.MaxPool2d
        value = -math.inf
    else:
        assert isinstance(op, ops.AvgPool)
        make, value = torch.nn.AvgPool2d, 0.0
    extra = {"ceil_mode": op.ceil}
    if isinstance(op, ops.AvgPool):
        extra["count_include_pad"] = op.count_padding
    before, after = (pads[0][0], pads[1][0]), (pads[0][1], pads[1][1])
    if max(2 * p - k for p, k in zip(before, kernel)) <= 0:
        if before == after:
            return Layer(make(kernel, strides, before, **extra))
        if ceil_reaches(op, x):
            return Layer(make(kernel, strides, before, **{**extra, "ceil_mode": True}))
    if isinstance(op, ops.AvgPool) and not op.count_padding:
        raise Unsupported("pytorch has no average pooling with uneven padding that is not counted")
    padding = torch.nn.ConstantPad2d((*pads[1], *pads[0]), value)
    return Layer(torch.nn.Sequential(padding, make(kernel, strides, **extra)))


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(place: TorchPlace) -> Layer:
    import torch

    return Layer(torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()))


@TABLE.entry(ops.Dense)
def dense(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    linear = torch.nn.Linear(place.shapes[0][-1], op.units, op.bias)
    links = {"kernel": Link((linear, "weight"), *dense_kernel(place.row_order))}
    if op.bias:
        links["bias"] = Link((linear, "bias"))
    return Layer(linear, links)


@TABLE.entry(ops.BatchNorm)
def batch_norm(place: TorchPlace) -> Layer:
    import torch

    op, (x,) = place.op, place.shapes
    make = torch.nn.BatchNorm2d if len(x) == 3 else torch.nn.BatchNorm1d
    norm = make(x[-1], op.epsilon, 1 - op.momentum, affine=True)
    links = {"mean": Link((norm, "running_mean")), "variance": Link((norm, "running_var"))}
    for name, attribute, used in (("gamma", "weight", op.scale), ("beta", "bias", op.center)):
        if used:
            links[name] = Link((norm, attribute))
        else:
            getattr(norm, attribute).requires_grad_(False)
    return Layer(norm, links)


@TABLE.entry(ops.LRN)
def lrn(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    size = 2 * op.radius + 1
    return Layer(torch.nn.LocalResponseNorm(size, op.alpha * size, op.beta, op.bias))


@TABLE.entry(ops.Activation)
def activation(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    if op.kind in ("relu", "relu6"):
        return Layer({"relu": torch.nn.ReLU, "relu6": torch.nn.ReLU6}[op.kind](inplace=place.may_overwrite(INPLACE_SAFE)))
    if op.kind.startswith("gelu"):
        return Layer(torch.nn.GELU("tanh" if op.kind == "gelu_tanh" else "none"))
    return Layer({"tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid, "silu": torch.nn.SiLU}[op.kind]())


@TABLE.entry(ops.Dropout)
def dropout(place: TorchPlace) -> Layer:
    import torch

    return Layer(torch.nn.Dropout(place.op.rate))


@TABLE.entry(ops.Flatten)
def flatten(place: TorchPlace) -> Layer:
    import torch

    if len(place.shapes[0]) == 3 and place.to_last:
        return Layer(function_module(lambda x: x.permute(0, 2, 3, 1).flatten(1)))
    return Layer(torch.nn.Flatten())


@TABLE.entry(ops.Add)
def add(place: TorchPlace) -> Layer:
    return Layer(function_module(lambda *xs: functools.reduce(plus, xs)))


@TABLE.entry(ops.Multiply)
def multiply(place: TorchPlace) -> Layer:
    x, y = place.shapes
    if x == y:
        return Layer(function_module(lambda a, b: a * b))
    if len(x) == 3:
        return Layer(function_module(lambda a, b: a * b[:, :, None, None]))
    return Layer(function_module(lambda a, b: a * b[:, None]))


@TABLE.entry(ops.Scale)
def scale(place: TorchPlace) -> Layer:
    factor = place.op.factor
    return Layer(function_module(lambda x: x * factor))


@TABLE.entry(ops.Pad)
def pad(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    amounts = (*op.columns, *op.rows, *op.channels)
    return Layer(function_module(lambda x: torch.nn.functional.pad(x, amounts)))


@TABLE.entry(ops.Concat)
def concat(place: TorchPlace) -> Layer:
    import torch

    axis = channel_axis(place.shapes[0])
    return Layer(function_module(lambda *xs: torch.cat(xs, axis)))


def attribute_name(name: str, root: Any) -> str:
    """A node's name as an attribute of the module: the generated code says self.layer1_conv(x)."""
    attribute = identifier(name)
    while keyword.iskeyword(attribute) or attribute[0].isdigit() or hasattr(root, attribute):
        attribute = f"_{attribute}"
    return attribute


def build_module(graph: Graph, weights: Weights, channels_last: bool) -> tuple[Any, dict[str, Link]]:
    """The torch module, and the links of the graph's arrays to (owner, attribute) of its tensors."""
    import torch

    orders = {} if channels_last else row_orders(graph)
    layers: dict[str, Layer] = build_layers(
        graph, TABLE, lambda node, built: TorchPlace(graph, node, built, orders, channels_last)
    )
    root, code = torch.nn.Module(), torch.fx.Graph()

    def call(node: Node, inputs: list[Any]) -> Any:
        target = attribute_name(node.name, root)
        root.add_module(target, layers[node.name].module)
        return code.call_module(target, tuple(inputs))

    code.output(walk(graph, code.placeholder("x"), call))
    links = all_links(layers)
    with torch.no_grad():
        for name, link in links.items():
            getattr(*link.target).copy_(torch.from_numpy(np.ascontiguousarray(link.to_framework(weights[name]))))
    return torch.fx.GraphModule(root, code), links

"""The operators in PyTorch, and how a graph of them becomes a torch.fx module."""

from __future__ import annotations

import keyword
import math
import re
from typing import Any, Callable

import numpy as np

from steptime.core.backends.base import Weights
from steptime.core.backends.channels_first import ceil_reaches, dense_kernel, row_orders
from steptime.core.backends.pytorch import sequence
from steptime.core.backends.pytorch.layer import Arrays, Hint, Layer, function_module, same
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph


def conv2d(op: ops.Conv2d, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    (x,) = shapes
    _, kernel, strides, dilation, pads = op.window(x)
    symmetric = all(a == b for a, b in pads)
    conv = torch.nn.Conv2d(
        x[2], op.filters, kernel, strides, (pads[0][0], pads[1][0]) if symmetric else 0, dilation, op.groups, op.bias
    )
    arrays = {"kernel": (conv, "weight", lambda a: a.transpose(3, 2, 0, 1), lambda a: a.transpose(2, 3, 1, 0))}
    if op.bias:
        arrays["bias"] = (conv, "bias", same, same)
    return Layer(conv if symmetric else torch.nn.Sequential(torch.nn.ZeroPad2d((*pads[1], *pads[0])), conv), arrays)


def pool(op: ops.Pool, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    (x,) = shapes
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


def global_avg_pool(op: ops.GlobalAvgPool, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    return Layer(torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()))


def dense(op: ops.Dense, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    linear = torch.nn.Linear(shapes[0][-1], op.units, op.bias)
    arrays: dict[str, Arrays] = {"kernel": (linear, "weight", *dense_kernel(hint.row_order))}
    if op.bias:
        arrays["bias"] = (linear, "bias", same, same)
    return Layer(linear, arrays)


def batch_norm(op: ops.BatchNorm, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    (x,) = shapes
    make = torch.nn.BatchNorm2d if len(x) == 3 else torch.nn.BatchNorm1d
    norm = make(x[-1], op.epsilon, 1 - op.momentum, affine=True)
    arrays: dict[str, Arrays] = {"mean": (norm, "running_mean", same, same), "variance": (norm, "running_var", same, same)}
    for name, attribute, used in (("gamma", "weight", op.scale), ("beta", "bias", op.center)):
        if used:
            arrays[name] = (norm, attribute, same, same)
        else:
            getattr(norm, attribute).requires_grad_(False)
    return Layer(norm, arrays)


def lrn(op: ops.LRN, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    size = 2 * op.radius + 1
    return Layer(torch.nn.LocalResponseNorm(size, op.alpha * size, op.beta, op.bias))


def activation(op: ops.Activation, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    if op.kind in ("relu", "relu6"):
        return Layer({"relu": torch.nn.ReLU, "relu6": torch.nn.ReLU6}[op.kind](inplace=hint.inplace))
    if op.kind.startswith("gelu"):
        return Layer(torch.nn.GELU("tanh" if op.kind == "gelu_tanh" else "none"))
    return Layer({"tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid, "silu": torch.nn.SiLU}[op.kind]())


def dropout(op: ops.Dropout, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    return Layer(torch.nn.Dropout(op.rate))


def flatten(op: ops.Flatten, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    if len(shapes[0]) == 3 and hint.to_last:
        return Layer(function_module(lambda x: x.permute(0, 2, 3, 1).flatten(1)))
    return Layer(torch.nn.Flatten())


def add(op: ops.Add, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    def total(first: Any, second: Any, *rest: Any) -> Any:
        out = first + second
        for x in rest:
            out = out + x
        return out

    return Layer(function_module(total))


def multiply(op: ops.Multiply, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    x, y = shapes
    if x == y:
        return Layer(function_module(lambda a, b: a * b))
    if len(x) == 3:
        return Layer(function_module(lambda a, b: a * b[:, :, None, None]))
    return Layer(function_module(lambda a, b: a * b[:, None]))


def scale(op: ops.Scale, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    return Layer(function_module(lambda x: x * op.factor))


def pad(op: ops.Pad, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    amounts = (*op.columns, *op.rows, *op.channels)
    return Layer(function_module(lambda x: torch.nn.functional.pad(x, amounts)))


def concat(op: ops.Concat, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    axis = 1 if len(shapes[0]) == 3 else -1
    return Layer(function_module(lambda *xs: torch.cat(xs, axis)))


TABLE: dict[type, Callable[[Any, tuple[ops.Shape, ...], Any], Layer]] = {
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


def attribute_name(name: str, root: Any) -> str:
    """A node's name as an attribute of the module: the generated code says self.layer1_conv(x)."""
    found = re.sub(r"\W", "_", name)
    while keyword.iskeyword(found) or found[0].isdigit() or hasattr(root, found):
        found = f"_{found}"
    return found


def build_module(graph: Graph, weights: Weights, channels_last: bool) -> tuple[Any, dict[str, Arrays]]:
    """The torch module, and for each of the graph's arrays its tensor and the ways there and back."""
    import torch

    orders = {} if channels_last else row_orders(graph)
    root, code = torch.nn.Module(), torch.fx.Graph()
    values = {graph.input.name: code.placeholder("x")}
    arrays = {}
    built: dict[str, Layer] = {}
    for node in graph.nodes[1:]:
        make = TABLE.get(type(node.op))
        if make is None:
            raise Unsupported(f"pytorch has no operator {type(node.op).__name__}")
        layer = make(node.op, graph.input_shapes(node), Hint(graph, node, channels_last, orders, built))
        target = attribute_name(node.name, root)
        root.add_module(target, layer.module)
        values[node.name] = code.call_module(target, tuple(values[i] for i in node.inputs))
        built[node.name] = layer
        arrays.update({f"{node.name}/{name}": entry for name, entry in layer.arrays.items()})
    code.output(values[graph.output])
    with torch.no_grad():
        for name, (owner, attribute, forth, _) in arrays.items():
            getattr(owner, attribute).copy_(torch.from_numpy(np.ascontiguousarray(forth(weights[name]))))
    return torch.fx.GraphModule(root, code), arrays

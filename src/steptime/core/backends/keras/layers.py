"""The operators as Keras layers: its own where it has one, small layers of keras.ops where it has none."""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.attention import rotation
from steptime.core.backends.keras.custom import bessel_batch_norm, function_layer, learned_layer, tied_layer
from steptime.core.backends.tensorflow.layers import four, is_depthwise, padding_of
from steptime.core.backends.windows import reach, window_counts
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node


class Site:
    """Where a layer is built: its operator, the shapes of its inputs, its name, and the layers before it."""

    def __init__(self, graph: Graph, node: Node, built: dict[str, Any]) -> None:
        self.op: Any = node.op
        self.shapes = graph.input_shapes(node)
        self.name = re.sub(r"\W", "_", node.name)
        self.built = built


Chain = list[Any]
"""Keras layers, each called with what the one before it gave; the last one has the node's arrays"""


def padded(site: Site, value: float = 0.0) -> tuple[Chain, str]:
    """What must be done before a layer that knows 'same' and 'valid' only, and which of them it is then."""
    import keras

    padding = padding_of(site.op, site.shapes[0])
    if isinstance(padding, str):
        return [], padding.lower()
    if value:
        return [function_layer(lambda x: keras.ops.pad(x, padding, constant_values=value))], "valid"
    return [keras.layers.ZeroPadding2D(reach(site.op, site.shapes[0]))], "valid"


def conv2d(site: Site) -> Chain:
    from keras import layers

    op, (x,) = site.op, site.shapes
    _, kernel, strides, dilation, _ = op.window(x)
    before, padding = padded(site)
    shared = {"strides": strides, "padding": padding, "dilation_rate": dilation, "use_bias": op.bias, "name": site.name}
    if is_depthwise(op, x):
        if strides[0] != strides[1]:
            raise Unsupported("keras has no depthwise Conv2d whose strides differ")
        return [*before, layers.DepthwiseConv2D(kernel, depth_multiplier=op.filters // x[-1], **shared)]
    return [*before, layers.Conv2D(op.filters, kernel, groups=op.groups, **shared)]


def max_pool(site: Site) -> Chain:
    from keras import layers

    _, kernel, strides, _, _ = site.op.window(site.shapes[0])
    before, padding = padded(site, -math.inf)
    return [*before, layers.MaxPooling2D(kernel, strides, padding, name=site.name)]


def avg_pool(site: Site) -> Chain:
    """'same' does not count padding, padding by hand does; what a window should count else is multiplied in."""
    import keras

    op, (x,) = site.op, site.shapes
    _, kernel, strides, _, _ = op.window(x)
    padding = padding_of(op, x)
    make = keras.layers.AveragePooling2D
    if padding == "VALID" or (padding == "SAME" and not op.count_padding):
        return [make(kernel, strides, padding.lower(), name=site.name)]
    share = math.prod(kernel) / window_counts(op, x)[None, :, :, None]
    weigh = function_layer(lambda x: x * keras.ops.cast(share, x.dtype))
    return [
        keras.layers.ZeroPadding2D(reach(op, x)),
        make(kernel, strides, "valid", name=site.name),
        *([weigh] if (share != 1).any() else []),
    ]


def batch_norm(site: Site) -> Chain:
    op = site.op
    return [bessel_batch_norm()(momentum=op.momentum, epsilon=op.epsilon, scale=op.scale, center=op.center, name=site.name)]


def lrn(site: Site) -> Chain:
    import keras

    op = site.op

    def normalise(x: Any) -> Any:
        squares = keras.ops.pad(x * x, four((0, 0), (0, 0), (op.radius, op.radius)))
        total = sum(squares[..., i : i + x.shape[-1]] for i in range(2 * op.radius + 1))
        return x * (op.bias + op.alpha * total) ** -op.beta

    return [function_layer(normalise)]


def activation(site: Site) -> Chain:
    import keras

    kind = site.op.kind
    if kind.startswith("gelu"):
        return [keras.layers.Activation(lambda x: keras.activations.gelu(x, approximate=kind == "gelu_tanh"), name=site.name)]
    return [keras.layers.Activation(kind, name=site.name)]


def multiply(site: Site) -> Chain:
    import keras

    x, y = site.shapes
    if x == y:
        return [keras.layers.Multiply(name=site.name)]
    return [function_layer(lambda a, b: a * keras.ops.reshape(b, (-1, *(1,) * (len(x) - 1), x[-1])))]


def pad(site: Site) -> Chain:
    import keras

    op = site.op
    amounts = four(*((max(a, 0), max(b, 0)) for a, b in op.pads))
    crop = tuple(slice(max(-before, 0), -max(-after, 0) or None) for before, after in ((0, 0), *op.pads))
    return [function_layer(lambda x: keras.ops.pad(x[crop], amounts))]


def position_embedding(site: Site) -> Chain:
    length, width = site.shapes[0]
    return [learned_layer((site.op.positions, width), lambda x, table: x + table[:length])]


def segment_embedding(site: Site) -> Chain:
    return [learned_layer((site.op.segments, site.shapes[0][1]), lambda x, table: x + table[0])]


def class_token(site: Site) -> Chain:
    import keras

    def put(x: Any, token: Any) -> Any:
        return keras.ops.concatenate((keras.ops.broadcast_to(token, (keras.ops.shape(x)[0], 1, token.shape[0])), x), 1)

    return [learned_layer(site.shapes[0][1:], put)]


def attention(site: Site) -> Chain:
    """The query heads that share keys are rows of one product."""
    import keras

    op, kops = site.op, keras.ops
    length = site.shapes[0][0]
    queries, keys, head = op.widths(*site.shapes)
    mask = np.where(np.tri(length, dtype=bool), 0, -np.inf)
    angles = rotation(op.rope_base, length, head) if op.rope_base else ()

    def heads(x: Any) -> Any:
        return kops.transpose(kops.reshape(x, (-1, length, x.shape[-1] // head, head)), (0, 2, 1, 3))

    def turn(x: Any) -> Any:
        if not angles:
            return x
        first, second = kops.split(x, 2, -1)
        cosine, sine = (kops.cast(part, x.dtype) for part in angles)
        return x * cosine + kops.concatenate((-second, first), -1) * sine

    def attend(*inputs: Any) -> Any:
        parts = inputs if len(inputs) == 3 else kops.split(inputs[0], (queries, queries + keys), -1)
        q, k, v = (heads(x) for x in parts)
        rows = op.heads // op.groups * length
        grouped = kops.reshape(turn(q) * (1 / math.sqrt(head)), (-1, op.groups, rows, head))
        scores = kops.matmul(grouped, kops.transpose(turn(k), (0, 1, 3, 2)))
        scores = kops.reshape(scores, (-1, op.heads, length, length))
        shares = kops.softmax(scores + kops.cast(mask, scores.dtype) if op.causal else scores)
        y = kops.matmul(kops.reshape(shares, (-1, op.groups, rows, length)), v)
        return kops.reshape(kops.transpose(kops.reshape(y, (-1, op.heads, length, head)), (0, 2, 1, 3)), (-1, length, queries))

    return [function_layer(attend)]


def _own(make: Callable[[Any, Any], Any]) -> Callable[[Site], Chain]:
    """A layer that Keras has, from `make(keras, site)`."""

    def build(site: Site) -> Chain:
        import keras

        return [make(keras.layers, site)]

    return build


def _function(make: Callable[[Any], Callable[..., Any]]) -> Callable[[Site], Chain]:
    return lambda site: [function_layer(make(site.op))]


TABLE: dict[type, Callable[[Site], Chain]] = {
    ops.Conv2d: conv2d,
    ops.MaxPool: max_pool,
    ops.AvgPool: avg_pool,
    ops.GlobalAvgPool: _own(lambda layers, site: layers.GlobalAveragePooling2D(name=site.name)),
    ops.Dense: _own(lambda layers, site: layers.Dense(site.op.units, use_bias=site.op.bias, name=site.name)),
    ops.BatchNorm: batch_norm,
    ops.LRN: lrn,
    ops.Activation: activation,
    ops.Dropout: _own(lambda layers, site: layers.Dropout(site.op.rate, name=site.name)),
    ops.Flatten: _own(lambda layers, site: layers.Flatten(name=site.name)),
    ops.Add: _own(lambda layers, site: layers.Add(name=site.name)),
    ops.Multiply: multiply,
    ops.Scale: _function(lambda op: lambda x: x * op.factor),
    ops.Pad: pad,
    ops.Concat: _own(lambda layers, site: layers.Concatenate(name=site.name)),
    ops.LayerNorm: _own(lambda layers, site: layers.LayerNormalization(epsilon=site.op.epsilon, name=site.name)),
    ops.RMSNorm: _own(lambda layers, site: layers.RMSNormalization(epsilon=site.op.epsilon, name=site.name)),
    ops.Embedding: _own(lambda layers, site: layers.Embedding(site.op.vocabulary, site.op.units, name=site.name)),
    ops.TiedDense: lambda site: [tied_layer(site.built[site.op.embedding], site.op.units, site.op.bias)],
    ops.PositionEmbedding: position_embedding,
    ops.SegmentEmbedding: segment_embedding,
    ops.ClassToken: class_token,
    ops.Tokens: _own(lambda layers, site: layers.Reshape((-1, site.shapes[0][-1]), name=site.name)),
    ops.Select: _function(lambda op: lambda x: x[:, op.index]),
    ops.Attention: attention,
}

# The graph's name of an array -> the attribute of a Keras layer that has it.
ATTRIBUTES = {
    "kernel": "kernel",
    "bias": "bias",
    "gamma": "gamma",
    "beta": "beta",
    "mean": "moving_mean",
    "variance": "moving_variance",
    "table": "embeddings",
    "token": "embeddings",
}


def variable_of(layer: Any, node: Node, name: str) -> Any:
    if isinstance(node.op, ops.RMSNorm):
        return layer.scale
    return getattr(layer, ATTRIBUTES[name])


def build_model(graph: Graph, batch: int) -> tuple[Any, dict[str, Any]]:
    """The functional Keras model, and the layers that have arrays by the name of their node."""
    import keras

    integers: Optional[str] = "int64" if graph.input_op.kind == "int" else None
    entry = keras.Input(batch_shape=(batch, *graph.input.shape), dtype=integers)
    values = {graph.input.name: entry}
    built: dict[str, Any] = {}
    for node in graph.nodes[1:]:
        make = TABLE.get(type(node.op))
        if make is None:
            raise Unsupported(f"keras has no operator {type(node.op).__name__}")
        chain = make(Site(graph, node, built))
        inputs = [values[i] for i in node.inputs]
        value = chain[0](inputs if len(inputs) > 1 else inputs[0])
        for layer in chain[1:]:
            value = layer(value)
        values[node.name] = value
        built[node.name] = chain[-1]
    return keras.Model(entry, values[graph.output], name=re.sub(r"\W", "_", graph.name)), built

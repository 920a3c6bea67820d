"""The operators as Keras layers: its own where it has one, small layers of keras.ops where it has none."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

from steptime.core.backends.attention import causal_mask, rotation
from steptime.core.backends.keras.custom import bessel_batch_norm, function_layer, learned_layer, tied_layer
from steptime.core.backends.translate import OperatorTable, Place, build_layers, identifier, walk
from steptime.core.backends.windows import four, is_depthwise, padding_of, reach, window_counts
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.models.graph import Graph, Node

TABLE = OperatorTable("keras")
Chain = list[Any]
"""Keras layers, each called with what the one before it gave; the last one has the node's arrays"""


def padded(place: Place, value: float = 0.0) -> tuple[Chain, str]:
    """What must be done before a layer that knows 'same' and 'valid' only, and which of them it is then."""
    import keras

    padding = padding_of(place.op, place.shapes[0])
    if isinstance(padding, str):
        return [], padding.lower()
    if value:
        return [function_layer(lambda x: keras.ops.pad(x, padding, constant_values=value))], "valid"
    return [keras.layers.ZeroPadding2D(reach(place.op, place.shapes[0]))], "valid"


@TABLE.entry(ops.Conv2d)
def conv2d(place: Place) -> Chain:
    from keras import layers

    op, (x,) = place.op, place.shapes
    _, kernel, strides, dilation, _ = op.window(x)
    before, padding = padded(place)
    shared = {
        "strides": strides,
        "padding": padding,
        "dilation_rate": dilation,
        "use_bias": op.bias,
        "name": place.identifier,
    }
    if is_depthwise(op, x):
        if strides[0] != strides[1]:
            raise Unsupported("keras has no depthwise Conv2d whose strides differ")
        return [*before, layers.DepthwiseConv2D(kernel, depth_multiplier=op.filters // x[-1], **shared)]
    return [*before, layers.Conv2D(op.filters, kernel, groups=op.groups, **shared)]


@TABLE.entry(ops.MaxPool)
def max_pool(place: Place) -> Chain:
    from keras import layers

    _, kernel, strides, _, _ = place.op.window(place.shapes[0])
    before, padding = padded(place, -math.inf)
    return [*before, layers.MaxPooling2D(kernel, strides, padding, name=place.identifier)]


@TABLE.entry(ops.AvgPool)
def avg_pool(place: Place) -> Chain:
    """'same' does not count padding, padding by hand does; what a window should count else is multiplied in."""
    import keras

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, _ = op.window(x)
    padding = padding_of(op, x)
    make = keras.layers.AveragePooling2D
    if padding == "VALID" or (padding == "SAME" and not op.count_padding):
        return [make(kernel, strides, padding.lower(), name=place.identifier)]
    share = math.prod(kernel) / window_counts(op, x)[None, :, :, None]
    weigh = function_layer(lambda x: x * keras.ops.cast(share, x.dtype))
    return [
        keras.layers.ZeroPadding2D(reach(op, x)),
        make(kernel, strides, "valid", name=place.identifier),
        *([weigh] if (share != 1).any() else []),
    ]


@TABLE.entry(ops.BatchNorm)
def batch_norm(place: Place) -> Chain:
    op = place.op
    return [
        bessel_batch_norm()(momentum=op.momentum, epsilon=op.epsilon, scale=op.scale, center=op.center, name=place.identifier)
    ]


@TABLE.entry(ops.LRN)
def lrn(place: Place) -> Chain:
    import keras

    op = place.op

    def normalise(x: Any) -> Any:
        squares = keras.ops.pad(x * x, four((0, 0), (0, 0), (op.radius, op.radius)))
        total = sum(squares[..., i : i + x.shape[-1]] for i in range(2 * op.radius + 1))
        return x * (op.bias + op.alpha * total) ** -op.beta

    return [function_layer(normalise)]


@TABLE.entry(ops.Activation)
def activation(place: Place) -> Chain:
    import keras

    kind = place.op.kind
    if kind.startswith("gelu"):
        return [
            keras.layers.Activation(lambda x: keras.activations.gelu(x, approximate=kind == "gelu_tanh"), name=place.identifier)
        ]
    return [keras.layers.Activation(kind, name=place.identifier)]


@TABLE.entry(ops.Multiply)
def multiply(place: Place) -> Chain:
    import keras

    x, y = place.shapes
    if x == y:
        return [keras.layers.Multiply(name=place.identifier)]
    return [function_layer(lambda a, b: a * keras.ops.reshape(b, (-1, *(1,) * (len(x) - 1), x[-1])))]


@TABLE.entry(ops.Pad)
def pad(place: Place) -> Chain:
    import keras

    op = place.op
    amounts = four(*((max(a, 0), max(b, 0)) for a, b in op.pads))
    crop = tuple(slice(max(-before, 0), -max(-after, 0) or None) for before, after in ((0, 0), *op.pads))
    return [function_layer(lambda x: keras.ops.pad(x[crop], amounts))]


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(place: Place) -> Chain:
    length, width = place.shapes[0]
    return [learned_layer((place.op.positions, width), lambda x, table: x + table[:length])]


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(place: Place) -> Chain:
    return [learned_layer((place.op.segments, place.shapes[0][1]), lambda x, table: x + table[0])]


@TABLE.entry(ops.ClassToken)
def class_token(place: Place) -> Chain:
    import keras

    def put(x: Any, token: Any) -> Any:
        return keras.ops.concatenate((keras.ops.broadcast_to(token, (keras.ops.shape(x)[0], 1, token.shape[0])), x), 1)

    return [learned_layer(place.shapes[0][1:], put)]


@TABLE.entry(ops.Attention)
def attention(place: Place) -> Chain:
    """The query heads that share keys are rows of one product."""
    import keras

    op, kops = place.op, keras.ops
    length = place.shapes[0][0]
    queries, keys, head = op.widths(*place.shapes)
    mask = causal_mask(length)
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


def own_layer(name: str, *operators: type, **arguments: Callable[[Any], Any]) -> None:
    """Enters a layer that Keras has, whose arguments are made from the operator."""

    @TABLE.entry(*operators)
    def layer(place: Place) -> Chain:
        import keras

        values = {argument: value(place.op) for argument, value in arguments.items()}
        return [getattr(keras.layers, name)(name=place.identifier, **values)]


own_layer("GlobalAveragePooling2D", ops.GlobalAvgPool)
own_layer("Dense", ops.Dense, units=lambda op: op.units, use_bias=lambda op: op.bias)
own_layer("Dropout", ops.Dropout, rate=lambda op: op.rate)
own_layer("Flatten", ops.Flatten)
own_layer("Add", ops.Add)
own_layer("Concatenate", ops.Concat)
own_layer("LayerNormalization", ops.LayerNorm, epsilon=lambda op: op.epsilon)
own_layer("RMSNormalization", ops.RMSNorm, epsilon=lambda op: op.epsilon)
own_layer("Embedding", ops.Embedding, input_dim=lambda op: op.vocabulary, output_dim=lambda op: op.units)


@TABLE.entry(ops.Scale)
def scale(place: Place) -> Chain:
    return [function_layer(lambda x: x * place.op.factor)]


@TABLE.entry(ops.Select)
def select(place: Place) -> Chain:
    return [function_layer(lambda x: x[:, place.op.index])]


@TABLE.entry(ops.Tokens)
def tokens(place: Place) -> Chain:
    from keras import layers

    return [layers.Reshape((-1, place.shapes[0][-1]), name=place.identifier)]


@TABLE.entry(ops.TiedDense)
def tied_dense(place: Place) -> Chain:
    return [tied_layer(place.built[place.op.embedding][-1], place.op.units, place.op.bias)]


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

    chains: dict[str, Chain] = build_layers(graph, TABLE, lambda node, built: Place(graph, node, built))

    def call(node: Node, inputs: list[Any]) -> Any:
        first, *rest = chains[node.name]
        value = first(inputs if len(inputs) > 1 else inputs[0])
        for layer in rest:
            value = layer(value)
        return value

    integers: Optional[str] = "int64" if graph.input_op.kind == "int" else None
    entry = keras.Input(batch_shape=(batch, *graph.input.shape), dtype=integers)
    model = keras.Model(entry, walk(graph, entry, call), name=identifier(graph.name))
    return model, {name: chain[-1] for name, chain in chains.items()}

"""The operators in TensorFlow, on images in its native layout: (batch, height, width, channels)."""

from __future__ import annotations

import math
from typing import Any, Callable

from steptime.core.backends.tensorflow import sequence
from steptime.core.backends.tensorflow.layer import Layer, Pass, VariablePlace
from steptime.core.backends.translate import OperatorTable
from steptime.core.backends.windows import four, is_depthwise, padding_of, reach, window_counts
from steptime.core.errors import Unsupported
from steptime.core.models import ops
from steptime.core.schema import Phase

TABLE = OperatorTable("tensorflow", sequence.TABLE)


def stored_shape(op: ops.Op, shapes: tuple[ops.Shape, ...], parameter: ops.Parameter) -> ops.Shape:
    """Of a variable: the graph's, but for the kernel of a depthwise convolution, whose order of values is the same."""
    if parameter.name == "kernel" and is_depthwise(op, shapes[0]):
        height, width, _, filters = parameter.shape
        return (height, width, shapes[0][-1], filters // shapes[0][-1])
    return parameter.shape


@TABLE.entry(ops.Conv2d)
def conv2d(place: VariablePlace) -> Layer:
    import tensorflow as tf

    op, (x,) = place.op, place.shapes
    convolve = depthwise(place) if is_depthwise(op, x) else full_convolution(place)
    if op.bias:
        return lambda run, x: tf.nn.bias_add(convolve(x, place.weight("kernel")), place.weight("bias"))
    return lambda run, x: convolve(x, place.weight("kernel"))


def full_convolution(place: VariablePlace) -> Callable[[Any, Any], Any]:
    import tensorflow as tf

    op, (x,), cpu = place.op, place.shapes, place.case.device == "cpu"
    _, _, strides, dilation, _ = op.window(x)
    padding = padding_of(op, x)
    if cpu and dilation != (1, 1) and place.case.phase == Phase.TRAINING:
        raise Unsupported("tensorflow has no gradient of a Conv2d with dilation on the CPU")

    def convolve(x: Any, kernel: Any) -> Any:
        return tf.nn.conv2d(x, kernel, strides, padding, dilations=dilation)

    def by_group(x: Any, kernel: Any) -> Any:
        parts = zip(tf.split(x, op.groups, -1), tf.split(kernel, op.groups, -1))
        return tf.concat([convolve(*part) for part in parts], -1)

    onednn_has_it = place.dtype in (tf.float32, tf.bfloat16)
    return by_group if op.groups > 1 and cpu and not onednn_has_it else convolve


def depthwise(place: VariablePlace) -> Callable[[Any, Any], Any]:
    import tensorflow as tf

    op, (x,) = place.op, place.shapes
    _, _, strides, dilation, _ = op.window(x)
    padding = padding_of(op, x)
    if strides[0] != strides[1]:
        raise Unsupported("tensorflow has no depthwise Conv2d whose strides differ")
    if dilation == (1, 1) or isinstance(padding, str):
        return lambda x, kernel: tf.nn.depthwise_conv2d(x, kernel, (1, *strides, 1), padding, dilations=dilation)
    return lambda x, kernel: tf.nn.depthwise_conv2d(tf.pad(x, padding), kernel, (1, *strides, 1), "VALID", dilations=dilation)


@TABLE.entry(ops.MaxPool)
def max_pool(place: VariablePlace) -> Layer:
    import tensorflow as tf

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, _ = op.window(x)
    padding = padding_of(op, x)
    return lambda run, x: tf.nn.max_pool2d(x, kernel, strides, padding)


@TABLE.entry(ops.AvgPool)
def avg_pool(place: VariablePlace) -> Layer:
    """Padding is not counted by 'SAME' and counted when padded by hand; what a window should count else is multiplied in."""
    import tensorflow as tf

    op, (x,) = place.op, place.shapes
    _, kernel, strides, _, _ = op.window(x)
    padding = padding_of(op, x)
    if padding == "VALID" or (padding == "SAME" and not op.count_padding):
        return lambda run, x: tf.nn.avg_pool2d(x, kernel, strides, padding)
    rows, columns = reach(op, x)
    counts = window_counts(op, x)
    if (counts == math.prod(kernel)).all():
        return lambda run, x: tf.nn.avg_pool2d(tf.pad(x, four(rows, columns)), kernel, strides, "VALID")
    share = tf.constant(math.prod(kernel) / counts[None, :, :, None], place.dtype)
    return lambda run, x: tf.nn.avg_pool2d(tf.pad(x, four(rows, columns)), kernel, strides, "VALID") * share


@TABLE.entry(ops.GlobalAvgPool)
def global_avg_pool(place: VariablePlace) -> Layer:
    import tensorflow as tf

    return lambda run, x: tf.reduce_mean(x, (1, 2))


@TABLE.entry(ops.BatchNorm)
def batch_norm(place: VariablePlace) -> Layer:
    """TensorFlow's fused one, which gives the unbiased running variance; double precision has none and is written out."""
    import tensorflow as tf

    op, v = place.op, place.variables
    width = place.shapes[0][-1]
    wide = v["mean"].dtype
    gamma = v["gamma"] if op.scale else tf.ones(width, wide)
    beta = v["beta"] if op.center else tf.zeros(width, wide)
    images = len(place.shapes[0]) == 3

    def fused(run: Pass, x: Any) -> Any:
        image = x if images else tf.reshape(x, (-1, 1, 1, width))
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(
            image,
            gamma,
            beta,
            v["mean"],
            v["variance"],
            op.epsilon,
            is_training=run.training,
            exponential_avg_factor=1 - op.momentum if run.training else 1.0,
        )
        if run.training:
            v["mean"].assign(mean)
            v["variance"].assign(variance)
        return y if images else tf.reshape(y, x.shape)

    def written_out(run: Pass, x: Any) -> Any:
        mean, variance = v["mean"], v["variance"]
        if run.training:
            mean, variance = tf.nn.moments(x, tuple(range(len(x.shape) - 1)))
            count = math.prod(x.shape[:-1])
            v["mean"].assign(op.momentum * v["mean"] + (1 - op.momentum) * mean)
            v["variance"].assign(op.momentum * v["variance"] + (1 - op.momentum) * (count / max(count - 1, 1)) * variance)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, op.epsilon)

    return written_out if place.dtype == tf.float64 else fused


@TABLE.entry(ops.LRN)
def lrn(place: VariablePlace) -> Layer:
    """TensorFlow's own knows single precision (and half); double is written out."""
    import tensorflow as tf

    op = place.op

    def own(run: Pass, x: Any) -> Any:
        y = tf.nn.local_response_normalization(tf.cast(x, tf.float32), op.radius, op.bias, op.alpha, op.beta)
        return place.cast(y)

    def written_out(run: Pass, x: Any) -> Any:
        squares = tf.pad(x * x, four((0, 0), (0, 0), (op.radius, op.radius)))
        total = tf.add_n([squares[..., i : i + x.shape[-1]] for i in range(2 * op.radius + 1)])
        return x * (op.bias + op.alpha * total) ** -op.beta

    return written_out if place.dtype == tf.float64 else own


@TABLE.entry(ops.Activation)
def activation(place: VariablePlace) -> Layer:
    import tensorflow as tf

    kind = place.op.kind
    if kind.startswith("gelu"):
        gelu = _double_gelu if place.dtype == tf.float64 else tf.nn.gelu
        return lambda run, x: gelu(x, kind == "gelu_tanh")
    function = {
        "relu": tf.nn.relu,
        "relu6": tf.nn.relu6,
        "tanh": tf.nn.tanh,
        "sigmoid": tf.nn.sigmoid,
        "silu": tf.nn.silu,
    }[kind]
    return lambda run, x: function(x)


def _double_gelu(x: Any, approximate: bool) -> Any:
    """The constants of tf.nn.gelu have the digits of single precision only."""
    import tensorflow as tf

    if approximate:
        return 0.5 * x * (1 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + tf.math.erf(x / math.sqrt(2)))


@TABLE.entry(ops.Dropout)
def dropout(place: VariablePlace) -> Layer:
    """From a seed of its own and the step's number: the same run gives the same masks, XLA's too."""
    import tensorflow as tf

    rate = place.op.rate
    if rate == 0:
        return lambda run, x: x

    def drop(run: Pass, x: Any) -> Any:
        return tf.nn.experimental.stateless_dropout(x, rate, tf.stack((tf.constant(place.seed, tf.int64), run.step)))

    return lambda run, x: drop(run, x) if run.training else x


@TABLE.entry(ops.Flatten)
def flatten(place: VariablePlace) -> Layer:
    import tensorflow as tf

    return lambda run, x: tf.reshape(x, (x.shape[0], -1))


@TABLE.entry(ops.Add)
def add(place: VariablePlace) -> Layer:
    import tensorflow as tf

    return lambda run, *xs: xs[0] + xs[1] if len(xs) == 2 else tf.add_n(xs)


@TABLE.entry(ops.Multiply)
def multiply(place: VariablePlace) -> Layer:
    import tensorflow as tf

    x, y = place.shapes
    if x == y:
        return lambda run, a, b: a * b
    return lambda run, a, b: a * tf.reshape(b, (-1, *(1,) * (len(x) - 1), x[-1]))


@TABLE.entry(ops.Scale)
def scale(place: VariablePlace) -> Layer:
    return lambda run, x: x * place.op.factor


@TABLE.entry(ops.Pad)
def pad(place: VariablePlace) -> Layer:
    import tensorflow as tf

    amounts = [[max(before, 0), max(after, 0)] for before, after in ((0, 0), *place.op.pads)]
    crop = tuple(slice(max(-before, 0), -max(-after, 0) or None) for before, after in ((0, 0), *place.op.pads))
    cropping = any(min(pads) < 0 for pads in place.op.pads)
    return lambda run, x: tf.pad(x[crop] if cropping else x, amounts)


@TABLE.entry(ops.Concat)
def concat(place: VariablePlace) -> Layer:
    import tensorflow as tf

    return lambda run, *xs: tf.concat(xs, -1)

"""What Keras 3 lacks, as small layers, a loss and an optimiser of its own kind. Made in functions: Keras is not imported here."""

from __future__ import annotations

import math
from typing import Any, Callable

from steptime.core.reference.optimizers import ADAM_EPSILON, momentum_of


def function_layer(function: Callable[..., Any]) -> Any:
    """keras.ops on one or more inputs, as a layer."""
    import keras

    class Function(keras.layers.Layer):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            return function(*inputs) if isinstance(inputs, (list, tuple)) else function(inputs)

    return Function()


def learned_layer(shape: tuple[int, ...], function: Callable[[Any, Any], Any]) -> Any:
    """One array, which the function gets beside the input."""
    import keras

    class Learned(keras.layers.Layer):  # type: ignore[misc]
        def build(self, _: Any) -> None:
            self.embeddings = self.add_weight(shape=shape, name="embeddings")

        def call(self, x: Any) -> Any:
            return function(x, keras.ops.convert_to_tensor(self.embeddings))

    return Learned()


def tied_layer(embedding: Any, units: int, with_bias: bool) -> Any:
    """A product with another layer's table, transposed."""
    import keras

    class Tied(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = embedding

        def build(self, _: Any) -> None:
            self.bias = self.add_weight(shape=(units,), name="bias") if with_bias else None

        def call(self, x: Any) -> Any:
            y = keras.ops.matmul(x, keras.ops.transpose(self.embedding.embeddings))
            return y + self.bias if self.bias is not None else y

    return Tied()


def bessel_batch_norm() -> type:
    """Keras' running variance is the biased one; every other backend's, and the definition's, is not."""
    import keras

    class BatchNorm(keras.layers.BatchNormalization):  # type: ignore[misc]
        def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
            kept = self.momentum * keras.ops.convert_to_tensor(self.moving_variance)
            y = super().call(inputs, training=training, mask=mask)
            if training:
                count = math.prod(inputs.shape[:-1])
                self.moving_variance.assign(kept + (self.moving_variance - kept) * (count / max(count - 1, 1)))
            return y

    return BatchNorm


def half_square_sum() -> Any:
    import keras

    class HalfSquareSum(keras.losses.Loss):  # type: ignore[misc]
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return 0.5 * keras.ops.sum(keras.ops.square(y_pred))

    return HalfSquareSum()


def _each_row_once(gradient: Any) -> Any:
    """TensorFlow's gradient of a table has a row for every use of it; Keras squares each before they are added up (3.15)."""
    if not hasattr(gradient, "indices"):
        return gradient
    import tensorflow as tf

    rows, where = tf.unique(gradient.indices)
    return tf.IndexedSlices(tf.math.unsorted_segment_sum(gradient.values, where, tf.size(rows)), rows, gradient.dense_shape)


def optimizer_of(kind: str, rate: float) -> Any:
    import keras

    if kind != "adam":
        return keras.optimizers.SGD(rate, momentum=momentum_of(kind))

    class Adam(keras.optimizers.Adam):  # type: ignore[misc]
        """Keras adds epsilon before the bias is corrected, the definition after."""

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            power = keras.ops.power(
                keras.ops.cast(self.beta_2, variable.dtype), keras.ops.cast(self.iterations + 1, variable.dtype)
            )
            self.epsilon = ADAM_EPSILON * keras.ops.sqrt(1 - power)
            super().update_step(_each_row_once(gradient), variable, learning_rate)
            self.epsilon = ADAM_EPSILON

    return Adam(rate)

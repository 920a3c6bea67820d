"""What follows the forward pass of a training step in TensorFlow: the loss, its scale, and the optimisers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from steptime.core.reference.optimizers import ADAM_BETAS, ADAM_EPSILON, MOMENTUM


def loss_of(kind: str, outputs: Any, labels: Any) -> Any:
    import tensorflow as tf

    wide = tf.cast(outputs, tf.float32) if outputs.dtype.size < 4 else outputs
    if kind == "l2":
        return tf.nn.l2_loss(wide)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, wide))


class Optimizer:
    """One fused kernel for each variable, as the optimisers of TensorFlow's own Keras call them."""

    def __init__(self, kind: str, rate: float, variables: Sequence[Any], step: Any) -> None:
        import tensorflow as tf

        self._variables, self._step = variables, step
        self._rates = [tf.constant(rate, v.dtype) for v in variables]
        slots = {"momentum": 1, "adam": 2}.get(kind, 0)
        self._slots = [[tf.Variable(tf.zeros_like(v), trainable=False) for v in variables] for _ in range(slots)]
        self._one = {"sgd": self._sgd, "momentum": self._momentum, "adam": self._adam}[kind]

    def apply(self, gradients: Sequence[Any]) -> None:
        """Called in the step whose number is already counted."""
        corrections = {v.dtype: self._corrections(v.dtype) for v in self._variables} if self._one == self._adam else {}
        for number, gradient in enumerate(gradients):
            self._one(number, gradient, corrections)

    def _sgd(self, number: int, gradient: Any, _: Mapping[Any, Any]) -> None:
        import tensorflow as tf

        variable, rate = self._variables[number], self._rates[number]
        if isinstance(gradient, tf.IndexedSlices):  # an embedding: only the rows that were looked up change
            variable.scatter_sub(tf.IndexedSlices(rate * gradient.values, gradient.indices))
            return
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)

    def _momentum(self, number: int, gradient: Any, _: Mapping[Any, Any]) -> None:
        import tensorflow as tf

        variable, rate = self._variables[number], self._rates[number]
        tf.raw_ops.ResourceApplyMomentum(
            var=variable.handle,
            accum=self._slots[0][number].handle,
            lr=rate,
            grad=tf.convert_to_tensor(gradient),
            momentum=tf.constant(MOMENTUM, variable.dtype),
        )

    def _adam(self, number: int, gradient: Any, corrections: Mapping[Any, Any]) -> None:
        import tensorflow as tf

        variable, rate = self._variables[number], self._rates[number]
        first, second, epsilon = corrections[variable.dtype]
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._slots[0][number].handle,
            v=self._slots[1][number].handle,
            beta1_power=first,
            beta2_power=second,
            lr=rate,
            beta1=tf.constant(ADAM_BETAS[0], variable.dtype),
            beta2=tf.constant(ADAM_BETAS[1], variable.dtype),
            epsilon=epsilon,
            grad=tf.convert_to_tensor(gradient),
        )

    def _corrections(self, dtype: Any) -> tuple[Any, Any, Any]:
        """Powers of the decays, and epsilon: the kernel adds it before the bias is corrected, the definition after."""
        import tensorflow as tf

        count = tf.cast(self._step, tf.float64)
        first, second = (tf.exp(count * math.log(beta)) for beta in ADAM_BETAS)
        return tf.cast(first, dtype), tf.cast(second, dtype), tf.cast(ADAM_EPSILON * tf.sqrt(1 - second), dtype)


class LossScale:
    """Dynamic, as Keras' LossScaleOptimizer: halved at an overflow, which skips the update; doubled after 2,000 good steps."""

    GROWTH_STEPS = 2000

    def __init__(self) -> None:
        import tensorflow as tf

        self._scale = tf.Variable(2.0**15, trainable=False)
        self._good = tf.Variable(0, dtype=tf.int64, trainable=False)

    def scaled(self, loss: Any) -> Any:
        return loss * self._scale

    def apply(self, optimizer: Optimizer, gradients: Sequence[Any]) -> None:
        import tensorflow as tf

        dense = [tf.convert_to_tensor(g) for g in gradients]
        finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in dense])

        def good() -> Any:
            optimizer.apply([g / self._scale for g in dense])
            grown = tf.equal(self._good.assign_add(1), self.GROWTH_STEPS)
            self._good.assign(tf.where(grown, tf.zeros_like(self._good), self._good))
            self._scale.assign(tf.where(grown, 2 * self._scale, self._scale))
            return tf.constant(True)

        def bad() -> Any:
            self._good.assign(0)
            self._scale.assign(tf.maximum(self._scale / 2, 1.0))
            return tf.constant(False)

        tf.cond(finite, good, bad)

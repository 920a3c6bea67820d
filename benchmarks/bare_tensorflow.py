"""Keras layers (keras.applications for ResNet-50) in a compiled tf.function, written by hand, against steptime's TensorFlow.

Runs in TensorFlow's own environment: bare_tensorflow.py mnist_cnn|resnet50 training|inference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import against_hand


def network(model: str) -> Any:
    import keras
    from keras import layers

    if model == "resnet50":
        return keras.applications.ResNet50(weights=None, classifier_activation=None)
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 5, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 5, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(1024, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10),
        ]
    )


def by_hand(model: str, phase: str, inputs: np.ndarray, labels: np.ndarray) -> Callable[[], None]:
    """As TensorFlow's guide to training loops writes it."""
    import keras
    import tensorflow as tf

    net = network(model)
    x, y = tf.constant(inputs), tf.constant(labels)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.SGD(0.01)

    @tf.function
    def infer(x: Any) -> Any:
        return net(x, training=False)

    @tf.function
    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, net(x, training=True))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        return loss

    return (lambda: train(x, y)) if phase == "training" else (lambda: infer(x))


if __name__ == "__main__":
    model, phase = sys.argv[1:]
    # ResNet-50 of keras.applications has the stride in the first 1x1 convolution, which the zoo calls v1.
    ours = "resnet50_v1" if model == "resnet50" else model
    against_hand("tensorflow", ours, phase, lambda weights, inputs, labels: by_hand(model, phase, inputs, labels))

"""Keras layers (keras.applications for ResNet-50) in a compiled tf.function, written by hand, against steptime's TensorFlow.

Runs in TensorFlow's own environment: bare_tensorflow.py mnist_cnn|resnet50 training|inference [PAIRS].
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import compare

from steptime.backends.base import find
from steptime.models import zoo
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Case

# model: (batch, steps in a block, pairs of blocks)
SIZES = {"mnist_cnn": (50, 12, 60), "resnet50": (8, 2, 12)}


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


def main(model: str, phase: str, pairs_text: str = "") -> None:
    batch, steps, pairs = SIZES[model]
    pairs = int(pairs_text or pairs)
    # ResNet-50 of keras.applications has the stride in the first 1x1 convolution, which the zoo calls v1.
    name = "resnet50_v1" if model == "resnet50" else model
    case = Case(name, "tensorflow", batch, phase=phase, threads=1)
    backend = find("tensorflow")
    backend.start(case)
    graph = zoo.build(name, {})
    inputs, labels = batch_of(graph, batch, 1)
    program = backend.build(graph, case, initial_weights(graph, 1), inputs, labels)
    step = by_hand(model, phase, inputs, labels)
    compare(program, step, steps, pairs)


if __name__ == "__main__":
    main(*sys.argv[1:])

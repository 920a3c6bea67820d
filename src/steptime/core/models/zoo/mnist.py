"""Networks for 28x28 digits."""

from __future__ import annotations

from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import Activation, Conv2d, Dense, Dropout, Flatten, MaxPool
from steptime.core.models.zoo import at_least, model


@model(batch=100, year=2015, paper="TensorFlow tutorial 'Deep MNIST for Experts'")
def mnist_cnn(classes: int = 10, dropout: float = 0.5) -> Graph:
    """Deep MNIST: two 5x5 convolutions and 1024 hidden units."""
    at_least(1, classes=classes)
    net = Net("mnist_cnn")
    x = net.input(28, 28, 1)
    for i, filters in enumerate((32, 64), 1):
        x = net(Conv2d(filters, 5), x, name=f"conv{i}")
        x = net(Activation("relu"), x, name=f"relu{i}")
        x = net(MaxPool(2, 2), x, name=f"pool{i}")
    x = net(Flatten(), x, name="flatten")
    x = net(Dense(1024), x, name="fc1")
    x = net(Activation("relu"), x, name="relu3")
    x = net(Dropout(dropout), x, name="dropout")
    return net.graph(net(Dense(classes), x, name="fc2"))


@model(
    batch=64,
    year=1998,
    paper="LeCun et al., Gradient-Based Learning Applied to Document Recognition; as in Caffe's example",
    learning_rate=1e-3,
)
def lenet(classes: int = 10) -> Graph:
    at_least(1, classes=classes)
    net = Net("lenet")
    x = net.input(28, 28, 1)
    for i, filters in enumerate((20, 50), 1):
        x = net(Conv2d(filters, 5, padding="valid"), x, name=f"conv{i}")
        x = net(MaxPool(2, 2), x, name=f"pool{i}")
    x = net(Flatten(), x, name="flatten")
    x = net(Dense(500), x, name="ip1")
    x = net(Activation("relu"), x, name="relu1")
    return net.graph(net(Dense(classes), x, name="ip2"))

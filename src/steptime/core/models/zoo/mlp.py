"""Fully connected networks of any depth and width."""

from __future__ import annotations

from steptime.core.errors import OptionError
from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import Activation, Dense
from steptime.core.models.zoo import at_least, model


@model(batch=100, year=1986, paper="Rumelhart et al., Learning representations by back-propagating errors")
def mlp(layers: int = 4, width: int = 1024, widths: str = "", inputs: int = 784, classes: int = 10) -> Graph:
    """`layers` hidden layers of `width` units each, or exactly those of `widths`, such as 500-300-100."""
    at_least(0, layers=layers)
    at_least(1, width=width)
    return _mlp("mlp", inputs, _sizes(widths) if widths else [width] * layers, classes)


@model(batch=100, year=2017, paper="DLBS, deep_mnist")
def deep_mnist(classes: int = 10, inputs: int = 784) -> Graph:
    return _mlp("deep_mnist", inputs, [2500, 2000, 1500, 1000, 500], classes)


@model(batch=100, year=2017, paper="DLBS, acoustic_model: the network of a hybrid speech recogniser")
def acoustic_model(classes: int = 8192, inputs: int = 540, layers: int = 5, width: int = 2048) -> Graph:
    at_least(1, layers=layers, width=width)
    return _mlp("acoustic_model", inputs, [width] * layers, classes)


@model(batch=100, year=2017, paper="DLBS, sensor_net")
def sensor_net(classes: int = 16, inputs: int = 784, layers: int = 3, width: int = 1024) -> Graph:
    at_least(1, layers=layers, width=width)
    return _mlp("sensor_net", inputs, [width] * layers, classes)


def _mlp(name: str, inputs: int, sizes: list[int], classes: int) -> Graph:
    at_least(1, inputs=inputs, classes=classes)
    net = Net(name)
    x = net.input(inputs)
    for i, size in enumerate(sizes, 1):
        x = net(Dense(size), x, name=f"fc{i}")
        x = net(Activation("relu"), x, name=f"relu{i}")
    return net.graph(net(Dense(classes), x, name="logits"))


def _sizes(widths: str) -> list[int]:
    try:
        sizes = [int(part) for part in str(widths).split("-")]
    except ValueError:
        raise OptionError("widths", f"option widths is a list of sizes such as 500-300-100, got '{widths}'") from None
    at_least(1, widths=min(sizes))
    return sizes

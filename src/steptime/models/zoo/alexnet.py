"""AlexNet and its relatives."""

from __future__ import annotations

from steptime.models.graph import Graph, Net
from steptime.models.ops import LRN, Activation, Conv2d, MaxPool
from steptime.models.zoo import at_least, model

ONE_TOWER = "Krizhevsky, One weird trick for parallelizing convolutional neural networks"


@model(batch=32, year=2014, paper=ONE_TOWER + "; body, as in TensorFlow's alexnet_benchmark", learning_rate=1e-8)
def alexnet_conv(image: int = 224) -> Graph:
    """The convolutions only; the loss is the l2 of the last pool, so that forward-backward has something to descend."""
    at_least(63, image=image)
    net = Net("alexnet_conv")
    x = net.input(image, image, 3)
    x = net(Conv2d(64, 11, strides=4), x, name="conv1")
    x = net(Activation("relu"), x, name="relu1")
    x = net(LRN(), x, name="lrn1")
    x = net(MaxPool(3, 2), x, name="pool1")
    x = net(Conv2d(192, 5), x, name="conv2")
    x = net(Activation("relu"), x, name="relu2")
    x = net(LRN(), x, name="lrn2")
    x = net(MaxPool(3, 2), x, name="pool2")
    for i, filters in enumerate((384, 256, 256), 3):
        x = net(Conv2d(filters, 3), x, name=f"conv{i}")
        x = net(Activation("relu"), x, name=f"relu{i}")
    return net.graph(net(MaxPool(3, 2), x, name="pool5"), loss="l2")

"""AlexNet and its relatives."""

from __future__ import annotations

from steptime.core.models.blocks import conv_act, dense_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import LRN, MaxPool
from steptime.core.models.zoo import at_least, model

TWO_TOWERS = "Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks"
ONE_TOWER = "Krizhevsky, One weird trick for parallelizing convolutional neural networks"


@model(batch=32, year=2014, paper=ONE_TOWER, learning_rate=1e-4)
def alexnet_owt(classes: int = 1000, image: int = 224, dropout: float = 0.5, hidden: int = 4096) -> Graph:
    """One tower, without response normalisation."""
    at_least(1, classes=classes, hidden=hidden)
    at_least(63, image=image)
    net = Net("alexnet_owt")
    x = net.input(image, image, 3)
    x = conv_act(net, x, 64, 11, 4, padding=2, name="conv1")
    x = conv_act(net, net(MaxPool(3, 2), x, name="pool1"), 192, 5, name="conv2")
    x = _three_convolutions(net, net(MaxPool(3, 2), x, name="pool2"), (384, 256, 256))
    x = net(MaxPool(3, 2), x, name="pool5")
    return net.graph(dense_logits(net, x, (hidden, hidden), classes, dropout, first=True))


@model(batch=32, year=2012, paper=TWO_TOWERS + "; its widths, without groups", learning_rate=1e-4)
def alexnet(classes: int = 1000, image: int = 227, dropout: float = 0.5, hidden: int = 4096) -> Graph:
    at_least(1, classes=classes, hidden=hidden)
    at_least(67, image=image)
    net = Net("alexnet")
    x = net.input(image, image, 3)
    x = conv_act(net, x, 96, 11, 4, padding="valid", name="conv1")
    x = net(MaxPool(3, 2), net(LRN(), x, name="lrn1"), name="pool1")
    x = conv_act(net, x, 256, 5, name="conv2")
    x = net(MaxPool(3, 2), net(LRN(), x, name="lrn2"), name="pool2")
    x = _three_convolutions(net, x, (384, 384, 256))
    x = net(MaxPool(3, 2), x, name="pool5")
    return net.graph(dense_logits(net, x, (hidden, hidden), classes, dropout, first=False))


@model(batch=32, year=2014, paper=ONE_TOWER + "; body, as in TensorFlow's alexnet_benchmark", learning_rate=1e-8)
def alexnet_conv(image: int = 224) -> Graph:
    """The convolutions only; the loss is the l2 of the last pool, so that forward-backward has something to descend."""
    at_least(63, image=image)
    net = Net("alexnet_conv")
    x = net.input(image, image, 3)
    x = conv_act(net, x, 64, 11, 4, name="conv1")
    x = net(MaxPool(3, 2), net(LRN(), x, name="lrn1"), name="pool1")
    x = conv_act(net, x, 192, 5, name="conv2")
    x = net(MaxPool(3, 2), net(LRN(), x, name="lrn2"), name="pool2")
    x = _three_convolutions(net, x, (384, 256, 256))
    return net.graph(net(MaxPool(3, 2), x, name="pool5"), loss="l2")


def _three_convolutions(net: Net, x: Tensor, widths: tuple[int, int, int]) -> Tensor:
    for i, filters in enumerate(widths, 3):
        x = conv_act(net, x, filters, 3, name=f"conv{i}")
    return x

"""Residual networks."""

from __future__ import annotations

from steptime.models.graph import Graph, Net, Tensor
from steptime.models.ops import Activation, Add, BatchNorm, Conv2d, Dense, GlobalAvgPool, MaxPool
from steptime.models.zoo import at_least, model

PAPER = "He et al., Deep Residual Learning for Image Recognition"


@model(batch=8, year=2015, paper=PAPER + "; v1.5: the stride is in the 3x3 convolution")
def resnet50(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet50", (3, 4, 6, 3), classes, image, width)


def _resnet(name: str, depths: tuple[int, ...], classes: int, image: int, width: int) -> Graph:
    at_least(1, classes=classes, width=width)
    at_least(32, image=image)
    net = Net(name)
    x = net.input(image, image, 3)
    x = _conv_bn(net, x, width, 7, 2, "conv1", "relu")
    x = net(MaxPool(3, 2, padding=1), x, name="pool1")
    for stage, depth in enumerate(depths):
        for block in range(depth):
            with net.scope(f"stage{stage + 1}.block{block + 1}"):
                x = _bottleneck(net, x, width * 2**stage, 2 if stage and not block else 1)
    x = net(GlobalAvgPool(), x, name="pool")
    return net.graph(net(Dense(classes), x, name="fc"))


def _bottleneck(net: Net, x: Tensor, width: int, stride: int) -> Tensor:
    shortcut = x
    if stride > 1 or x.shape[2] != 4 * width:
        shortcut = _conv_bn(net, x, 4 * width, 1, stride, "shortcut")
    y = _conv_bn(net, x, width, 1, 1, "conv1", "relu")
    y = _conv_bn(net, y, width, 3, stride, "conv2", "relu")
    y = _conv_bn(net, y, 4 * width, 1, 1, "conv3")
    return net(Activation("relu"), net(Add(), y, shortcut, name="add"), name="relu")


def _conv_bn(net: Net, x: Tensor, filters: int, kernel: int, stride: int, name: str, activation: str = "") -> Tensor:
    x = net(Conv2d(filters, kernel, stride, padding=kernel // 2, bias=False), x, name=name)
    x = net(BatchNorm(), x, name=f"{name}.bn")
    return net(Activation(activation), x, name=f"{name}.{activation}") if activation else x

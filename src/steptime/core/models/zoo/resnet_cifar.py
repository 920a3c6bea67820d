"""Residual networks for 32x32 images: three stages, shortcuts without parameters."""

from __future__ import annotations

from steptime.core.models.blocks import conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, AvgPool, Pad
from steptime.core.models.zoo import at_least, model

PAPER = "He et al., Deep Residual Learning for Image Recognition; section 4.2"


@model(batch=128, year=2015, paper=PAPER)
def resnet20(classes: int = 10, image: int = 32, width: int = 16) -> Graph:
    return _resnet("resnet20", 3, classes, image, width)


@model(batch=128, year=2015, paper=PAPER)
def resnet32(classes: int = 10, image: int = 32, width: int = 16) -> Graph:
    return _resnet("resnet32", 5, classes, image, width)


@model(batch=128, year=2015, paper=PAPER)
def resnet44(classes: int = 10, image: int = 32, width: int = 16) -> Graph:
    return _resnet("resnet44", 7, classes, image, width)


@model(batch=64, year=2015, paper=PAPER)
def resnet56(classes: int = 10, image: int = 32, width: int = 16) -> Graph:
    return _resnet("resnet56", 9, classes, image, width)


@model(batch=64, year=2015, paper=PAPER)
def resnet110(classes: int = 10, image: int = 32, width: int = 16) -> Graph:
    return _resnet("resnet110", 18, classes, image, width)


def _resnet(name: str, depth: int, classes: int, image: int, width: int) -> Graph:
    at_least(1, classes=classes)
    at_least(2, width=width)
    at_least(4, image=image)
    net = Net(name)
    x = conv_bn(net, net.input(image, image, 3), width, 3, 1, 1, "conv1", "relu")
    for stage in range(3):
        for block in range(depth):
            with net.scope(f"stage{stage + 1}.block{block + 1}"):
                x = _block(net, x, width * 2**stage, 2 if stage and not block else 1)
    return net.graph(pooled_logits(net, x, classes))


def _block(net: Net, x: Tensor, width: int, stride: int) -> Tensor:
    y = conv_bn(net, x, width, 3, stride, 1, "conv1", "relu")
    y = conv_bn(net, y, width, 3, 1, 1, "conv2")
    if x.shape != y.shape:
        x = net(AvgPool(1, stride), x, name="subsample")
        missing = width - x.shape[2]
        x = net(Pad(channels=(missing // 2, missing - missing // 2)), x, name="pad")
    return net(Activation("relu"), net(Add(), y, x, name="add"), name="relu")

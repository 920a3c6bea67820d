"""Residual networks for images of ImageNet's size."""

from __future__ import annotations

from steptime.core.models.blocks import bn_act, conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, Conv2d, MaxPool
from steptime.core.models.zoo import at_least, model

PAPER = "He et al., Deep Residual Learning for Image Recognition"
V15 = PAPER + "; v1.5: the stride is in the 3x3 convolution"
IDENTITY = "He et al., Identity Mappings in Deep Residual Networks"


@model(batch=16, year=2015, paper=PAPER)
def resnet18(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet18", (2, 2, 2, 2), "basic", classes, image, width)


@model(batch=16, year=2015, paper=PAPER)
def resnet34(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet34", (3, 4, 6, 3), "basic", classes, image, width)


@model(batch=8, year=2015, paper=V15)
def resnet50(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet50", (3, 4, 6, 3), "v1.5", classes, image, width)


@model(batch=8, year=2015, paper=PAPER + "; the stride is in the first 1x1 convolution")
def resnet50_v1(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet50_v1", (3, 4, 6, 3), "v1", classes, image, width)


@model(batch=8, year=2016, paper=IDENTITY)
def resnet50_v2(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    """Normalisation and relu come before the convolutions."""
    return _resnet("resnet50_v2", (3, 4, 6, 3), "v2", classes, image, width)


@model(batch=4, year=2015, paper=V15)
def resnet101(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet101", (3, 4, 23, 3), "v1.5", classes, image, width)


@model(batch=4, year=2015, paper=V15)
def resnet152(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet152", (3, 8, 36, 3), "v1.5", classes, image, width)


@model(batch=4, year=2016, paper=IDENTITY + "; its depth, in v1.5 order")
def resnet200(classes: int = 1000, image: int = 224, width: int = 64) -> Graph:
    return _resnet("resnet200", (3, 24, 36, 3), "v1.5", classes, image, width)


def _resnet(name: str, depths: tuple[int, ...], kind: str, classes: int, image: int, width: int) -> Graph:
    at_least(1, classes=classes, width=width)
    at_least(32, image=image)
    net = Net(name)
    x = net.input(image, image, 3)
    if kind == "v2":
        x = net(Conv2d(width, 7, 2, padding=3, bias=False), x, name="conv1")
    else:
        x = conv_bn(net, x, width, 7, 2, 3, "conv1", "relu")
    x = net(MaxPool(3, 2, padding=1), x, name="pool1")
    for stage, depth in enumerate(depths):
        for block in range(depth):
            with net.scope(f"stage{stage + 1}.block{block + 1}"):
                x = _block(net, x, kind, width * 2**stage, 2 if stage and not block else 1)
    if kind == "v2":
        x = bn_act(net, x, "bn")
    return net.graph(pooled_logits(net, x, classes))


def _block(net: Net, x: Tensor, kind: str, width: int, stride: int) -> Tensor:
    if kind == "basic":
        return _basic(net, x, width, stride)
    return _pre_activated(net, x, width, stride) if kind == "v2" else _bottleneck(net, x, width, stride, kind == "v1")


def _basic(net: Net, x: Tensor, width: int, stride: int) -> Tensor:
    y = conv_bn(net, x, width, 3, stride, 1, "conv1", "relu")
    y = conv_bn(net, y, width, 3, 1, 1, "conv2")
    return _joined(net, x, y, stride)


def _bottleneck(net: Net, x: Tensor, width: int, stride: int, stride_first: bool) -> Tensor:
    y = conv_bn(net, x, width, 1, stride if stride_first else 1, 0, "conv1", "relu")
    y = conv_bn(net, y, width, 3, 1 if stride_first else stride, 1, "conv2", "relu")
    y = conv_bn(net, y, 4 * width, 1, 1, 0, "conv3")
    return _joined(net, x, y, stride)


def _joined(net: Net, x: Tensor, y: Tensor, stride: int) -> Tensor:
    if x.shape != y.shape:
        x = conv_bn(net, x, y.shape[2], 1, stride, 0, "shortcut")
    return net(Activation("relu"), net(Add(), y, x, name="add"), name="relu")


def _pre_activated(net: Net, x: Tensor, width: int, stride: int) -> Tensor:
    active = bn_act(net, x, "bn1")
    if stride > 1 or x.shape[2] != 4 * width:
        x = net(Conv2d(4 * width, 1, stride, padding=0, bias=False), active, name="shortcut")
    y = net(Conv2d(width, 1, bias=False), active, name="conv1")
    y = net(Conv2d(width, 3, stride, padding=1, bias=False), bn_act(net, y, "bn2"), name="conv2")
    y = net(Conv2d(4 * width, 1, bias=False), bn_act(net, y, "bn3"), name="conv3")
    return net(Add(), y, x, name="add")

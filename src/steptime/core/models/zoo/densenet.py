"""Densely connected networks: each layer sees all before it."""

from __future__ import annotations

from steptime.core.models.blocks import bn_act, conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import AvgPool, Concat, Conv2d, MaxPool
from steptime.core.models.zoo import at_least, model

PAPER = "Huang et al., Densely Connected Convolutional Networks"


@model(batch=8, year=2016, paper=PAPER)
def densenet121(classes: int = 1000, image: int = 224, growth: int = 32) -> Graph:
    return _imagenet("densenet121", (6, 12, 24, 16), classes, image, growth)


@model(batch=8, year=2016, paper=PAPER)
def densenet169(classes: int = 1000, image: int = 224, growth: int = 32) -> Graph:
    return _imagenet("densenet169", (6, 12, 32, 32), classes, image, growth)


@model(batch=8, year=2016, paper=PAPER)
def densenet201(classes: int = 1000, image: int = 224, growth: int = 32) -> Graph:
    return _imagenet("densenet201", (6, 12, 48, 32), classes, image, growth)


@model(batch=64, year=2016, paper=PAPER + "; for CIFAR, depth 40, growth 12, no bottlenecks")
def densenet40_k12(classes: int = 10, image: int = 32, growth: int = 12, depth: int = 40) -> Graph:
    """`depth` is 3 n + 4 for n layers in each of the three blocks. Dropout, which is off with augmented data, is left out."""
    at_least(1, classes=classes, growth=growth)
    at_least(7, depth=depth)
    at_least(4, image=image)
    net = Net("densenet40_k12")
    x = net(Conv2d(16, 3, bias=False), net.input(image, image, 3), name="conv1")
    for block in range(1, 4):
        for layer in range(1, (depth - 4) // 3 + 1):
            with net.scope(f"block{block}.layer{layer}"):
                y = net(Conv2d(growth, 3, bias=False), bn_act(net, x, "bn1"), name="conv1")
                x = net(Concat(), x, y, name="concat")
        x = _transition(net, x, block, 1) if block < 3 else x
    return net.graph(pooled_logits(net, bn_act(net, x, "bn"), classes))


def _imagenet(name: str, depths: tuple[int, ...], classes: int, image: int, growth: int) -> Graph:
    at_least(1, classes=classes, growth=growth)
    at_least(32, image=image)
    net = Net(name)
    x = conv_bn(net, net.input(image, image, 3), 2 * growth, 7, 2, 3, "conv1", "relu")
    x = net(MaxPool(3, 2, padding=1), x, name="pool1")
    for block, depth in enumerate(depths, 1):
        for layer in range(1, depth + 1):
            with net.scope(f"block{block}.layer{layer}"):
                x = _bottleneck(net, x, growth)
        x = _transition(net, x, block, 2) if block < len(depths) else x
    return net.graph(pooled_logits(net, bn_act(net, x, "bn"), classes))


def _bottleneck(net: Net, x: Tensor, growth: int) -> Tensor:
    y = net(Conv2d(4 * growth, 1, bias=False), bn_act(net, x, "bn1"), name="conv1")
    y = net(Conv2d(growth, 3, bias=False), bn_act(net, y, "bn2"), name="conv2")
    return net(Concat(), x, y, name="concat")


def _transition(net: Net, x: Tensor, block: int, compression: int) -> Tensor:
    with net.scope(f"transition{block}"):
        x = net(Conv2d(x.shape[2] // compression, 1, bias=False), bn_act(net, x, "bn"), name="conv")
        return net(AvgPool(2, 2), x, name="pool")

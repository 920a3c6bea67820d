"""Inception v3, v4 and Inception-ResNet v2: parallel branches of factorised convolutions.

A branch is written as its convolutions in order, each as filters:kernel, all followed by batch normalisation and relu:
"64:1 96:3 96:1x7" have stride 1 and keep the size; a v after the kernel means no padding, a /2 stride 2 and no padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from steptime.core.models.blocks import conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, AvgPool, Concat, Conv2d, MaxPool, Pair, Scale
from steptime.core.models.zoo import at_least, model, positive

RETHINKING = "Szegedy et al., Rethinking the Inception Architecture for Computer Vision"
V4 = "Szegedy et al., Inception-v4, Inception-ResNet and the Impact of Residual Connections on Learning"
EPSILON = 1e-3
SMALLEST = 75
STEM = "32:3/2 32:3v 64:3"


@model(batch=8, year=2015, paper=RETHINKING)
def inception3(classes: int = 1000, image: int = 299, width: float = 1.0, dropout: float = 0.5) -> Graph:
    """Without the auxiliary classifier. Average pools count their padding, as torchvision's do.

    `width` multiplies every number of channels.
    """
    net, x = _start("inception3", classes, image, width)
    x = net(MaxPool(3, 2), _chain(net, x, "conv1", STEM), name="pool1")
    x = net(MaxPool(3, 2), _chain(net, x, "conv2", "80:1 192:3v"), name="pool2")
    for name, pooled in (("mixed_5b", 32), ("mixed_5c", 64), ("mixed_5d", 64)):
        x = _mixed(net, x, name, ("64:1", "48:1 64:5", "64:1 96:3 96:3"), pooled, count_padding=True)
    x = _reduction(net, x, "mixed_6a", ("384:3/2", "64:1 96:3 96:3/2"))
    for name, w in (("mixed_6b", 128), ("mixed_6c", 160), ("mixed_6d", 160), ("mixed_6e", 192)):
        single, double = f"{w}:1 {w}:1x7 192:7x1", f"{w}:1 {w}:7x1 {w}:1x7 {w}:7x1 192:1x7"
        x = _mixed(net, x, name, ("192:1", single, double), 192, count_padding=True)
    x = _reduction(net, x, "mixed_7a", ("192:1 320:3/2", "192:1 192:1x7 192:7x1 192:3/2"))
    for name in ("mixed_7b", "mixed_7c"):
        x = _forked(net, x, name, "320:1", ("384:1", "448:1 384:3"), 384, 192, count_padding=True)
    return net.graph(pooled_logits(net, x, classes, dropout))


@model(batch=4, year=2016, paper=V4)
def inception4(classes: int = 1000, image: int = 299, width: float = 1.0, dropout: float = 0.2) -> Graph:
    net, x = _start("inception4", classes, image, width)
    x = _chain(net, x, "conv1", STEM)
    x = _reduction(net, x, "mixed_3a", ("96:3/2",), pool_first=True)
    x = _mixed(net, x, "mixed_4a", ("64:1 96:3v", "64:1 64:1x7 64:7x1 96:3v"))
    x = _reduction(net, x, "mixed_5a", ("192:3/2",))
    for i in range(1, 5):
        x = _mixed(net, x, f"inception_a{i}", ("96:1", "64:1 96:3", "64:1 96:3 96:3"), 96)
    x = _reduction(net, x, "reduction_a", ("384:3/2", "192:1 224:3 256:3/2"))
    for i in range(1, 8):
        branches = ("384:1", "192:1 224:1x7 256:7x1", "192:1 192:7x1 224:1x7 224:7x1 256:1x7")
        x = _mixed(net, x, f"inception_b{i}", branches, 128)
    x = _reduction(net, x, "reduction_b", ("192:1 192:3/2", "256:1 256:1x7 320:7x1 320:3/2"))
    for i in range(1, 4):
        x = _forked(net, x, f"inception_c{i}", "256:1", ("384:1", "384:1 448:3x1 512:1x3"), 256, 256)
    return net.graph(pooled_logits(net, x, classes, dropout))


@model(batch=4, year=2016, paper=V4)
def inception_resnet_v2(classes: int = 1000, image: int = 299, width: float = 1.0, dropout: float = 0.2) -> Graph:
    net, x = _start("inception_resnet_v2", classes, image, width)
    x = net(MaxPool(3, 2), _chain(net, x, "conv1", STEM), name="pool1")
    x = net(MaxPool(3, 2), _chain(net, x, "conv2", "80:1 192:3v"), name="pool2")
    x = _mixed(net, x, "mixed_5b", ("96:1", "48:1 64:5", "64:1 96:3 96:3"), 64)
    for i in range(1, 11):
        x = _residual(net, x, f"block35_{i}", ("32:1", "32:1 32:3", "32:1 48:3 64:3"), 0.17)
    x = _reduction(net, x, "mixed_6a", ("384:3/2", "256:1 256:3 384:3/2"))
    for i in range(1, 21):
        x = _residual(net, x, f"block17_{i}", ("192:1", "128:1 160:1x7 192:7x1"), 0.1)
    x = _reduction(net, x, "mixed_7a", ("256:1 384:3/2", "256:1 288:3/2", "256:1 288:3 320:3/2"))
    for i in range(1, 11):
        last = i == 10
        x = _residual(net, x, f"block8_{i}", ("192:1", "192:1 224:1x3 256:3x1"), 1.0 if last else 0.2, relu=not last)
    return net.graph(pooled_logits(net, _chain(net, x, "conv3", "1536:1"), classes, dropout))


@dataclass
class _Net(Net):
    """Carries the multiplier of all widths."""

    width: float = 1.0


def _start(name: str, classes: int, image: int, width: float) -> tuple[_Net, Tensor]:
    at_least(1, classes=classes)
    at_least(SMALLEST, image=image)
    positive(width=width)
    net = _Net(name, width=width)
    return net, net.input(image, image, 3)


def _chain(net: _Net, x: Tensor, name: str, layers: str) -> Tensor:
    for letter, layer in zip("abcde", layers.split()):
        filters, _, shape = layer.partition(":")
        strides = 2 if shape.endswith("/2") else 1
        padding = "valid" if shape.endswith(("/2", "v")) else "same"
        kernel = _kernel(shape.replace("/2", "").rstrip("v"))
        x = conv_bn(
            net, x, max(1, round(int(filters) * net.width)), kernel, strides, padding, name + letter, "relu", epsilon=EPSILON
        )
    return x


def _kernel(text: str) -> Pair:
    height, _, width = text.partition("x")
    return int(height), int(width or height)


def _branches(net: _Net, x: Tensor, branches: tuple[str, ...]) -> list[Tensor]:
    return [_chain(net, x, f"branch{i}", layers) for i, layers in enumerate(branches, 1)]


def _pooled(net: _Net, x: Tensor, filters: int, count_padding: bool) -> Tensor:
    pool = AvgPool(3, 1, padding=1, count_padding=count_padding)
    return _chain(net, net(pool, x, name="pool"), "branch_pool", f"{filters}:1")


def _mixed(
    net: _Net, x: Tensor, name: str, branches: tuple[str, ...], pooled: Optional[int] = None, count_padding: bool = False
) -> Tensor:
    """Parallel branches; the last one, if any, averages neighbours and projects to `pooled` channels."""
    with net.scope(name):
        outs = _branches(net, x, branches)
        if pooled:
            outs.append(_pooled(net, x, pooled, count_padding))
        return net(Concat(), *outs, name="concat")


def _reduction(net: _Net, x: Tensor, name: str, branches: tuple[str, ...], pool_first: bool = False) -> Tensor:
    """Halves height and width; a max pool is one of the branches."""
    with net.scope(name):
        outs = _branches(net, x, branches)
        pool = net(MaxPool(3, 2), x, name="pool")
        return net(Concat(), *([pool, *outs] if pool_first else [*outs, pool]), name="concat")


def _forked(
    net: _Net, x: Tensor, name: str, one: str, forks: tuple[str, ...], width: int, pooled: int, count_padding: bool = False
) -> Tensor:
    """Branches that end in a 1x3 and a 3x1 convolution side by side."""
    with net.scope(name):
        outs = [_chain(net, x, "branch1", one)]
        for i, layers in enumerate(forks, 2):
            stem = _chain(net, x, f"branch{i}", layers)
            outs += [_chain(net, stem, f"branch{i}_{shape}", f"{width}:{shape}") for shape in ("1x3", "3x1")]
        return net(Concat(), *outs, _pooled(net, x, pooled, count_padding), name="concat")


def _residual(net: _Net, x: Tensor, name: str, branches: tuple[str, ...], scale: float, relu: bool = True) -> Tensor:
    """Adds the joined branches, damped by `scale`."""
    with net.scope(name):
        y = net(Concat(), *_branches(net, x, branches), name="concat")
        y = net(Conv2d(x.shape[2], 1), y, name="up")
        y = net(Scale(scale), y, name="scale") if scale != 1 else y
        x = net(Add(), y, x, name="add")
        return net(Activation("relu"), x, name="relu") if relu else x

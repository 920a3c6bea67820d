"""SqueezeNet: the accuracy of AlexNet with a fiftieth of its parameters."""

from __future__ import annotations

from steptime.core.models.blocks import conv_act, dropped
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Concat, GlobalAvgPool, MaxPool
from steptime.core.models.zoo import at_least, model

PAPER = "Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size"


@model(batch=32, year=2016, paper=PAPER + "; version 1.0", learning_rate=1e-3)
def squeezenet(classes: int = 1000, image: int = 224, dropout: float = 0.5) -> Graph:
    at_least(1, classes=classes)
    at_least(31, image=image)
    net = Net("squeezenet")
    x = conv_act(net, net.input(image, image, 3), 96, 7, 2, "valid", name="conv1")
    x = net(MaxPool(3, 2, ceil=True), x, name="pool1")
    for i, squeeze in enumerate((16, 16, 32, 32, 48, 48, 64, 64), 2):
        with net.scope(f"fire{i}"):
            x = _fire(net, x, squeeze, 4 * squeeze)
        if i in (4, 8):
            x = net(MaxPool(3, 2, ceil=True), x, name=f"pool{i}")
    x = conv_act(net, dropped(net, x, dropout), classes, 1, name="conv10")
    return net.graph(net(GlobalAvgPool(), x, name="pool10"))


def _fire(net: Net, x: Tensor, squeeze: int, expand: int) -> Tensor:
    x = conv_act(net, x, squeeze, 1, name="squeeze")
    one, three = (conv_act(net, x, expand, k, name=f"expand{k}x{k}") for k in (1, 3))
    return net(Concat(), one, three, name="concat")

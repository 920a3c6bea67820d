"""OverFeat, the fast model."""

from __future__ import annotations

from steptime.core.models.blocks import conv_act, dense_logits
from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import MaxPool
from steptime.core.models.zoo import at_least, model


@model(
    batch=16, year=2013, paper="Sermanet et al., OverFeat: Integrated Recognition, Localization and Detection", learning_rate=1e-4
)
def overfeat(classes: int = 1000, image: int = 231, dropout: float = 0.5, width: int = 1024) -> Graph:
    """`width` is that of the last convolutions; the hidden layers are three and four times as wide."""
    at_least(1, classes=classes)
    at_least(2, width=width)
    at_least(71, image=image)
    net = Net("overfeat")
    x = net.input(image, image, 3)
    x = conv_act(net, x, 96, 11, 4, padding="valid", name="conv1")
    x = conv_act(net, net(MaxPool(), x, name="pool1"), 256, 5, padding="valid", name="conv2")
    x = net(MaxPool(), x, name="pool2")
    for i, filters in enumerate((width // 2, width, width), 3):
        x = conv_act(net, x, filters, 3, name=f"conv{i}")
    x = net(MaxPool(), x, name="pool5")
    return net.graph(dense_logits(net, x, (3 * width, 4 * width), classes, dropout, first=False))

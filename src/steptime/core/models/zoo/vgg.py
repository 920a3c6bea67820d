"""The plain deep networks of Oxford's Visual Geometry Group."""

from __future__ import annotations

from steptime.core.models.blocks import conv_act, dense_logits
from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import MaxPool
from steptime.core.models.zoo import at_least, model

PAPER = "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition"


@model(batch=8, year=2014, paper=PAPER + "; configuration A", learning_rate=1e-4)
def vgg11(classes: int = 1000, image: int = 224, dropout: float = 0.5, width: int = 64, hidden: int = 4096) -> Graph:
    return _vgg("vgg11", (1, 1, 2, 2, 2), classes, image, dropout, width, hidden)


@model(batch=8, year=2014, paper=PAPER + "; configuration B", learning_rate=1e-4)
def vgg13(classes: int = 1000, image: int = 224, dropout: float = 0.5, width: int = 64, hidden: int = 4096) -> Graph:
    return _vgg("vgg13", (2, 2, 2, 2, 2), classes, image, dropout, width, hidden)


@model(batch=4, year=2014, paper=PAPER + "; configuration D", learning_rate=1e-4)
def vgg16(classes: int = 1000, image: int = 224, dropout: float = 0.5, width: int = 64, hidden: int = 4096) -> Graph:
    return _vgg("vgg16", (2, 2, 3, 3, 3), classes, image, dropout, width, hidden)


@model(batch=4, year=2014, paper=PAPER + "; configuration E", learning_rate=1e-4)
def vgg19(classes: int = 1000, image: int = 224, dropout: float = 0.5, width: int = 64, hidden: int = 4096) -> Graph:
    return _vgg("vgg19", (2, 2, 4, 4, 4), classes, image, dropout, width, hidden)


def _vgg(name: str, depths: tuple[int, ...], classes: int, image: int, dropout: float, width: int, hidden: int) -> Graph:
    at_least(1, classes=classes, width=width, hidden=hidden)
    at_least(32, image=image)
    net = Net(name)
    x = net.input(image, image, 3)
    for stage, depth in enumerate(depths, 1):
        filters = width * min(2 ** (stage - 1), 8)
        for i in range(1, depth + 1):
            x = conv_act(net, x, filters, 3, name=f"conv{stage}_{i}")
        x = net(MaxPool(), x, name=f"pool{stage}")
    return net.graph(dense_logits(net, x, (hidden, hidden), classes, dropout, first=False))

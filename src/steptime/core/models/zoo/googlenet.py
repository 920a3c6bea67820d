"""GoogLeNet: the first Inception network."""

from __future__ import annotations

from steptime.core.models.blocks import conv_act, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import LRN, Concat, MaxPool
from steptime.core.models.zoo import at_least, model

# block: 1x1, then 1x1 and 3x3, then 1x1 and 5x5, then the 1x1 after the pool
BLOCKS = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}
# Caffe divides alpha by the number of channels that it sums over; this is its 1e-4 over 5.
NORM = LRN(2, 1.0, 2e-5, 0.75)


@model(
    batch=16, year=2014, paper="Szegedy et al., Going Deeper with Convolutions; as in Caffe's bvlc_googlenet", learning_rate=1e-4
)
def googlenet(classes: int = 1000, image: int = 224, dropout: float = 0.4) -> Graph:
    """With response normalisation, without batch normalisation and without the auxiliary classifiers."""
    at_least(1, classes=classes)
    at_least(32, image=image)
    net = Net("googlenet")
    x = net.input(image, image, 3)
    x = conv_act(net, x, 64, 7, 2, padding=3, name="conv1")
    x = net(NORM, net(MaxPool(3, 2, ceil=True), x, name="pool1"), name="lrn1")
    x = conv_act(net, x, 64, 1, name="conv2_reduce")
    x = net(NORM, conv_act(net, x, 192, 3, name="conv2"), name="lrn2")
    stage = "2"
    for name, widths in BLOCKS.items():
        if name[0] != stage:
            x = net(MaxPool(3, 2, ceil=True), x, name=f"pool{stage}")
            stage = name[0]
        with net.scope(f"inception_{name}"):
            x = _inception(net, x, widths)
    return net.graph(pooled_logits(net, x, classes, dropout))


def _inception(net: Net, x: Tensor, widths: tuple[int, ...]) -> Tensor:
    one, three_reduce, three, five_reduce, five, pool = widths
    branches = [
        conv_act(net, x, one, 1, name="1x1"),
        conv_act(net, conv_act(net, x, three_reduce, 1, name="3x3_reduce"), three, 3, name="3x3"),
        conv_act(net, conv_act(net, x, five_reduce, 1, name="5x5_reduce"), five, 5, name="5x5"),
        conv_act(net, net(MaxPool(3, 1, padding=1), x, name="pool"), pool, 1, name="pool_proj"),
    ]
    return net(Concat(), *branches, name="concat")

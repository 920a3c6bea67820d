"""EfficientNet: inverted residuals with squeeze and excitation, found by search."""

from __future__ import annotations

from steptime.core.models.blocks import conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, Dense, GlobalAvgPool, Multiply
from steptime.core.models.zoo import at_least, model

# expansion, kernel, filters, repeats, first stride
STAGES = (
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 2),
    (6, 5, 40, 2, 2),
    (6, 3, 80, 3, 2),
    (6, 5, 112, 3, 1),
    (6, 5, 192, 4, 2),
    (6, 3, 320, 1, 1),
)


@model(batch=16, year=2019, paper="Tan and Le, EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks")
def efficientnet_b0(classes: int = 1000, image: int = 224, dropout: float = 0.2) -> Graph:
    """Without stochastic depth, which only regularises training."""
    at_least(1, classes=classes)
    at_least(32, image=image)
    net = Net("efficientnet_b0")
    x = conv_bn(net, net.input(image, image, 3), 32, 3, 2, 1, "conv1", "silu")
    for stage, (expansion, kernel, filters, repeats, stride) in enumerate(STAGES, 1):
        for block in range(repeats):
            with net.scope(f"stage{stage}.block{block + 1}"):
                x = _block(net, x, expansion, kernel, filters, 1 if block else stride)
    x = conv_bn(net, x, 1280, 1, 1, 0, "conv2", "silu")
    return net.graph(pooled_logits(net, x, classes, dropout))


def _block(net: Net, x: Tensor, expansion: int, kernel: int, filters: int, stride: int) -> Tensor:
    inner = x.shape[2] * expansion
    y = conv_bn(net, x, inner, 1, 1, 0, "expand", "silu") if expansion > 1 else x
    y = conv_bn(net, y, inner, kernel, stride, kernel // 2, "depthwise", "silu", groups=inner)
    y = _squeeze_excite(net, y, x.shape[2] // 4)
    y = conv_bn(net, y, filters, 1, 1, 0, "project")
    return net(Add(), y, x, name="add") if x.shape == y.shape else y


def _squeeze_excite(net: Net, x: Tensor, squeezed: int) -> Tensor:
    """Weighs each channel by what a small network makes of all channels' means."""
    with net.scope("se"):
        y = net(Dense(squeezed), net(GlobalAvgPool(), x, name="pool"), name="squeeze")
        y = net(Dense(x.shape[2]), net(Activation("silu"), y, name="silu"), name="excite")
        return net(Multiply(), x, net(Activation("sigmoid"), y, name="sigmoid"), name="scale")

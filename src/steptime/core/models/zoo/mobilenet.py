"""MobileNets: depthwise separable convolutions."""

from __future__ import annotations

from steptime.core.models.blocks import conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Add
from steptime.core.models.zoo import at_least, model, positive

V1 = "Howard et al., MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications"
V2 = "Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks"
V1_LAYERS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
# expansion, filters, repeats, first stride
V2_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


@model(batch=32, year=2017, paper=V1)
def mobilenet_v1(classes: int = 1000, image: int = 224, width: float = 1.0) -> Graph:
    """`width` multiplies every number of channels. relu6, as in the published code."""
    at_least(1, classes=classes)
    at_least(32, image=image)
    positive(width=width)
    net = Net("mobilenet_v1")
    x = conv_bn(net, net.input(image, image, 3), scaled(32, width), 3, 2, 1, "conv1", "relu6")
    for i, (filters, stride) in enumerate(V1_LAYERS, 1):
        with net.scope(f"block{i}"):
            x = conv_bn(net, x, x.shape[2], 3, stride, 1, "depthwise", "relu6", groups=x.shape[2])
            x = conv_bn(net, x, scaled(filters, width), 1, 1, 0, "pointwise", "relu6")
    return net.graph(pooled_logits(net, x, classes))


@model(batch=32, year=2018, paper=V2)
def mobilenet_v2(classes: int = 1000, image: int = 224, width: float = 1.0, dropout: float = 0.2) -> Graph:
    """`width` multiplies the channels of all but the last convolution."""
    at_least(1, classes=classes)
    at_least(32, image=image)
    positive(width=width)
    net = Net("mobilenet_v2")
    x = conv_bn(net, net.input(image, image, 3), scaled(32, width), 3, 2, 1, "conv1", "relu6")
    for stage, (expansion, filters, repeats, stride) in enumerate(V2_STAGES, 1):
        for block in range(repeats):
            with net.scope(f"stage{stage}.block{block + 1}"):
                x = _inverted_residual(net, x, expansion, scaled(filters, width), 1 if block else stride)
    x = conv_bn(net, x, max(1280, scaled(1280, width)), 1, 1, 0, "conv2", "relu6")
    return net.graph(pooled_logits(net, x, classes, dropout))


def _inverted_residual(net: Net, x: Tensor, expansion: int, filters: int, stride: int) -> Tensor:
    inner = x.shape[2] * expansion
    y = conv_bn(net, x, inner, 1, 1, 0, "expand", "relu6") if expansion > 1 else x
    y = conv_bn(net, y, inner, 3, stride, 1, "depthwise", "relu6", groups=inner)
    y = conv_bn(net, y, filters, 1, 1, 0, "project")
    return net(Add(), x, y, name="add") if x.shape == y.shape else y


def scaled(filters: int, width: float) -> int:
    """To a multiple of 8 that is not more than a tenth below what was asked for."""
    wanted = filters * width
    nearest = max(8, int(wanted + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * wanted else nearest

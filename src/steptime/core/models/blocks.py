"""Layers that come in the same order in many models of the zoo."""

from __future__ import annotations

from typing import Union

from steptime.core.models.graph import Net, Tensor
from steptime.core.models.ops import Activation, BatchNorm, Conv2d, Dense, Dropout, Flatten, GlobalAvgPool, Padding, Pair


def conv_act(
    net: Net,
    x: Tensor,
    filters: int,
    kernel: Union[int, Pair],
    strides: int = 1,
    padding: Padding = "same",
    name: str = "conv",
    activation: str = "relu",
) -> Tensor:
    """Convolution with bias, activation."""
    x = net(Conv2d(filters, kernel, strides, padding), x, name=name)
    return net(Activation(activation), x, name=f"{name}.{activation}")


def conv_bn(
    net: Net,
    x: Tensor,
    filters: int,
    kernel: Union[int, Pair],
    strides: int = 1,
    padding: Padding = "same",
    name: str = "conv",
    activation: str = "",
    groups: int = 1,
    epsilon: float = 1e-5,
) -> Tensor:
    """Convolution without bias, batch normalisation, and the activation if there is one."""
    x = net(Conv2d(filters, kernel, strides, padding, groups, bias=False), x, name=name)
    x = net(BatchNorm(epsilon), x, name=f"{name}.bn")
    return net(Activation(activation), x, name=f"{name}.{activation}") if activation else x


def bn_act(net: Net, x: Tensor, name: str, activation: str = "relu", epsilon: float = 1e-5) -> Tensor:
    """Batch normalisation, activation: what comes before the convolution in pre-activated models."""
    x = net(BatchNorm(epsilon), x, name=name)
    return net(Activation(activation), x, name=f"{name}.{activation}")


def dropped(net: Net, x: Tensor, rate: float, name: str = "dropout") -> Tensor:
    """Dropout, or nothing at all if the rate is 0."""
    return net(Dropout(rate), x, name=name) if rate else x


def pooled_logits(net: Net, x: Tensor, classes: int, dropout: float = 0.0) -> Tensor:
    """The usual end of an image classifier."""
    x = net(GlobalAvgPool(), x, name="pool")
    return net(Dense(classes), dropped(net, x, dropout), name="fc")


def dense_logits(net: Net, x: Tensor, hidden: tuple[int, ...], classes: int, dropout: float, first: bool) -> Tensor:
    """The end of the early image classifiers: hidden layers with dropout before each (`first`) or after each."""
    x = net(Flatten(), x, name="flatten")
    for i, units in enumerate(hidden, 1):
        x = dropped(net, x, dropout, f"dropout{i}") if first else x
        x = net(Activation("relu"), net(Dense(units), x, name=f"fc{i}"), name=f"fc{i}.relu")
        x = x if first else dropped(net, x, dropout, f"dropout{i}")
    return net(Dense(classes), x, name=f"fc{len(hidden) + 1}")

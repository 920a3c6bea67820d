"""Vision transformers."""

from __future__ import annotations

from steptime.core.models.blocks import dropped
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import (
    Activation,
    Add,
    Attention,
    ClassToken,
    Conv2d,
    Dense,
    LayerNorm,
    PositionEmbedding,
    Select,
    Tokens,
)
from steptime.core.models.zoo import at_least, model, multiple_of

PAPER = "Dosovitskiy et al., An Image is Worth 16x16 Words"
EPSILON = 1e-6


@model(batch=8, year=2020, paper=PAPER, learning_rate=1e-3)
def vit_b16(
    classes: int = 1000,
    image: int = 224,
    patch: int = 16,
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    hidden: int = 3072,
    dropout: float = 0.1,
) -> Graph:
    """Dropout is where the paper has it: after the positions and after every dense layer but queries, keys and values."""
    at_least(1, classes=classes, patch=patch, layers=layers, heads=heads, hidden=hidden)
    multiple_of(heads, width=width)
    multiple_of(patch, image=image)
    net = Net("vit_b16")
    x = net(Conv2d(width, patch, patch, "valid"), net.input(image, image, 3), name="patches")
    x = net(ClassToken(), net(Tokens(), x, name="tokens"), name="class_token")
    x = dropped(net, net(PositionEmbedding(x.shape[0]), x, name="positions"), dropout, "positions.dropout")
    for layer in range(1, layers + 1):
        with net.scope(f"layer{layer}"):
            x = _layer(net, x, heads, hidden, dropout)
    x = net(LayerNorm(EPSILON), x, name="norm")
    return net.graph(net(Dense(classes), net(Select(0), x, name="class"), name="fc"))


def _layer(net: Net, x: Tensor, heads: int, hidden: int, dropout: float) -> Tensor:
    width = x.shape[1]
    y = net(LayerNorm(EPSILON), x, name="norm1")
    y = net(Attention(heads), net(Dense(3 * width), y, name="qkv"), name="attention")
    y = dropped(net, net(Dense(width), y, name="proj"), dropout, "proj.dropout")
    x = net(Add(), x, y, name="add1")
    y = net(LayerNorm(EPSILON), x, name="norm2")
    y = net(Activation("gelu"), net(Dense(hidden), y, name="up"), name="gelu")
    y = net(Dense(width), dropped(net, y, dropout, "up.dropout"), name="down")
    return net(Add(), x, dropped(net, y, dropout, "down.dropout"), name="add2")

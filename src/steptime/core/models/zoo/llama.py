"""Decoders in the style of Llama: RMSNorm, rotary positions, SwiGLU, grouped queries."""

from __future__ import annotations

from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, Attention, Dense, Embedding, Multiply, RMSNorm
from steptime.core.models.zoo import at_least, model, multiple_of

PAPER = "Touvron et al., LLaMA: Open and Efficient Foundation Language Models"


@model(batch=4, year=2023, paper=PAPER + "; grouped queries as in Llama 2 and 3")
def llama(
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    kv_heads: int = 4,
    hidden: int = 2048,
    vocabulary: int = 32000,
    sequence: int = 256,
    rope_base: float = 10000.0,
) -> Graph:
    """The default is of GPT-2's size. No bias, no dropout; the output layer has a matrix of its own.

    Llama 3 8B is layers=32 width=4096 heads=32 kv_heads=8 hidden=14336 vocabulary=128256 rope_base=500000.
    """
    at_least(1, layers=layers, heads=heads, kv_heads=kv_heads, hidden=hidden, vocabulary=vocabulary, sequence=sequence)
    at_least(1, rope_base=rope_base)
    multiple_of(2 * heads, width=width)
    multiple_of(kv_heads, heads=heads)
    net = Net("llama")
    x = net(Embedding(vocabulary, width), net.input(sequence, kind="int", high=vocabulary), name="embedding")
    attention = Attention(heads, kv_heads, causal=True, rope_base=rope_base)
    for layer in range(1, layers + 1):
        with net.scope(f"layer{layer}"):
            x = _layer(net, x, attention, hidden)
    return net.graph(net(Dense(vocabulary, bias=False), net(RMSNorm(), x, name="norm"), name="logits"))


def _layer(net: Net, x: Tensor, attention: Attention, hidden: int) -> Tensor:
    width = x.shape[1]
    grouped = width // attention.heads * attention.groups
    y = net(RMSNorm(), x, name="norm1")
    parts = [
        net(Dense(units, bias=False), y, name=name) for name, units in (("query", width), ("key", grouped), ("value", grouped))
    ]
    y = net(Dense(width, bias=False), net(attention, *parts, name="attention"), name="proj")
    x = net(Add(), x, y, name="add1")
    y = net(RMSNorm(), x, name="norm2")
    gate = net(Activation("silu"), net(Dense(hidden, bias=False), y, name="gate"), name="silu")
    y = net(Multiply(), gate, net(Dense(hidden, bias=False), y, name="up"), name="gated")
    return net(Add(), x, net(Dense(width, bias=False), y, name="down"), name="add2")

"""GPT-2: the transformer's decoder as a language model."""

from __future__ import annotations

from steptime.core.models.blocks import dropped
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, Attention, Dense, Embedding, LayerNorm, PositionEmbedding, TiedDense
from steptime.core.models.zoo import at_least, model, multiple_of


@model(batch=4, year=2019, paper="Radford et al., Language Models are Unsupervised Multitask Learners")
def gpt2_small(
    sequence: int = 256,
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    vocabulary: int = 50257,
    positions: int = 1024,
    dropout: float = 0.1,
) -> Graph:
    """The output layer is the embedding's table. `sequence` may be up to `positions`; the default suits a CPU.

    Dropout is where GPT-2 has it except on attention's probabilities: there it would keep frameworks from their fused
    attention.
    """
    at_least(1, sequence=sequence, layers=layers, heads=heads, vocabulary=vocabulary)
    at_least(sequence, positions=positions)
    multiple_of(heads, width=width)
    net = Net("gpt2_small")
    x = net(Embedding(vocabulary, width), net.input(sequence, kind="int", high=vocabulary), name="embedding")
    x = dropped(net, net(PositionEmbedding(positions), x, name="positions"), dropout, "embedding.dropout")
    for layer in range(1, layers + 1):
        with net.scope(f"layer{layer}"):
            x = _layer(net, x, heads, dropout)
    return net.graph(net(TiedDense("embedding", vocabulary), net(LayerNorm(), x, name="norm"), name="logits"))


def _layer(net: Net, x: Tensor, heads: int, dropout: float) -> Tensor:
    width = x.shape[1]
    y = net(Dense(3 * width), net(LayerNorm(), x, name="norm1"), name="qkv")
    y = net(Dense(width), net(Attention(heads, causal=True), y, name="attention"), name="proj")
    x = net(Add(), x, dropped(net, y, dropout, "proj.dropout"), name="add1")
    y = net(Dense(4 * width), net(LayerNorm(), x, name="norm2"), name="up")
    y = net(Dense(width), net(Activation("gelu_tanh"), y, name="gelu"), name="down")
    return net(Add(), x, dropped(net, y, dropout, "down.dropout"), name="add2")

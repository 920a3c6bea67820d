"""BERT: the transformer's encoder."""

from __future__ import annotations

from steptime.core.models.blocks import dropped
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import (
    Activation,
    Add,
    Attention,
    Dense,
    Embedding,
    LayerNorm,
    PositionEmbedding,
    SegmentEmbedding,
    Select,
    TiedDense,
)
from steptime.core.models.zoo import at_least, model, multiple_of, one_of

PAPER = "Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"
NORM = LayerNorm(1e-12)


@model(batch=8, year=2018, paper=PAPER, learning_rate=1e-4)
def bert_base(
    sequence: int = 128,
    head: str = "pooler",
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    hidden: int = 3072,
    vocabulary: int = 30522,
    positions: int = 512,
    dropout: float = 0.1,
) -> Graph:
    """The input is one segment without padding, so that no attention mask is needed.

    head=pooler ends in the pooled vector of the first token and descends its l2, which reaches every parameter that
    counts in the published 109,482,240; head=mlm ends in the tied output layer of masked language modelling, with
    cross entropy over all positions. Dropout is where BERT has it except on attention's probabilities: there it
    would keep frameworks from their fused attention.
    """
    at_least(1, sequence=sequence, layers=layers, heads=heads, hidden=hidden, vocabulary=vocabulary)
    at_least(sequence, positions=positions)
    multiple_of(heads, width=width)
    one_of(("mlm", "pooler"), head=head)
    net = Net("bert_base")
    x = net(Embedding(vocabulary, width), net.input(sequence, kind="int", high=vocabulary), name="embedding")
    x = net(SegmentEmbedding(2), x, name="segment")
    x = net(NORM, net(PositionEmbedding(positions), x, name="positions"), name="embedding.norm")
    x = dropped(net, x, dropout, "embedding.dropout")
    for layer in range(1, layers + 1):
        with net.scope(f"layer{layer}"):
            x = _layer(net, x, heads, hidden, dropout)
    if head == "pooler":
        x = net(Dense(width), net(Select(0), x, name="first"), name="pooler")
        return net.graph(net(Activation("tanh"), x, name="pooler.tanh"), loss="l2")
    x = net(Activation("gelu"), net(Dense(width), x, name="transform"), name="transform.gelu")
    x = net(NORM, x, name="transform.norm")
    return net.graph(net(TiedDense("embedding", vocabulary, bias=True), x, name="logits"))


def _layer(net: Net, x: Tensor, heads: int, hidden: int, dropout: float) -> Tensor:
    width = x.shape[1]
    parts = [net(Dense(width), x, name=name) for name in ("query", "key", "value")]
    y = net(Dense(width), net(Attention(heads), *parts, name="attention"), name="proj")
    x = net(NORM, net(Add(), dropped(net, y, dropout, "proj.dropout"), x, name="add1"), name="norm1")
    y = net(Activation("gelu"), net(Dense(hidden), x, name="up"), name="gelu")
    y = dropped(net, net(Dense(width), y, name="down"), dropout, "down.dropout")
    return net(NORM, net(Add(), y, x, name="add2"), name="norm2")

"""Convolution over sentences."""

from __future__ import annotations

from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import Activation, Concat, Conv2d, Dense, Flatten, MaxPool
from steptime.core.models.zoo import at_least, model

PAPER = "Kim, Convolutional Neural Networks for Sentence Classification; as in DLBS"


@model(batch=64, year=2014, paper=PAPER)
def text_cnn(classes: int = 10, sequence: int = 59, width: int = 128) -> Graph:
    """The input are word vectors of size `width`, which as many filters of 1, 3 and 5 words each read."""
    at_least(1, classes=classes, sequence=sequence, width=width)
    net = Net("text_cnn")
    x = net.input(sequence, width, 1)
    branches = [
        net(Conv2d(width, (words, width), padding=((words // 2, words // 2), (0, 0))), x, name=f"conv{words}")
        for words in (1, 3, 5)
    ]
    x = net(Activation("relu"), net(Concat(), *branches, name="concat"), name="relu")
    x = net(MaxPool((sequence, 1), 1), x, name="pool")
    return net.graph(net(Dense(classes), net(Flatten(), x, name="flatten"), name="fc"))

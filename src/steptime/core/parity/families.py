"""Every family of the zoo at a size that numpy trains in a second, in double precision."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

from steptime.core.models import zoo
from steptime.core.models.graph import Graph, Net
from steptime.core.models.ops import (
    Activation,
    Add,
    AvgPool,
    BatchNorm,
    Concat,
    Conv2d,
    Dense,
    Flatten,
    GlobalAvgPool,
    MaxPool,
    Multiply,
    Op,
    Pad,
    Scale,
)
from steptime.core.schema import Option

SMALL: dict[str, Option] = {"image": 64, "classes": 10}  # above 1x1 at the end: batch normalisation of three values is chaotic
THIN: dict[str, Option] = {"image": 107, "classes": 10, "width": 0.125}
TINY: dict[str, Option] = {"layers": 2, "width": 32, "heads": 4, "sequence": 12, "vocabulary": 50}

REDUCED: dict[str, dict[str, Option]] = {
    "acoustic_model": {"width": 64, "classes": 100},
    "alexnet": {"image": 67, "classes": 10, "hidden": 64},
    "alexnet_conv": {"image": 63},
    "alexnet_owt": {"image": 63, "classes": 10, "hidden": 64},
    "bert_base": {**TINY, "hidden": 64, "positions": 16},
    "bert_base mlm": {**TINY, "hidden": 64, "positions": 16, "head": "mlm"},
    "deep_mnist": {"inputs": 20},
    "densenet121": {**SMALL, "growth": 4},
    "densenet40_k12": {"image": 16, "depth": 13},
    "efficientnet_b0": SMALL,
    "googlenet": SMALL,
    "gpt2_small": {**TINY, "positions": 20},
    "inception3": THIN,
    "inception4": THIN,
    "inception_resnet_v2": THIN,
    "lenet": {},
    "llama": {**TINY, "kv_heads": 2, "hidden": 48},
    "mlp": {"layers": 3, "width": 50},
    "mnist_cnn": {},
    "mobilenet_v1": {**SMALL, "width": 0.25},
    "mobilenet_v2": {**SMALL, "width": 0.25},
    "nasnet": {"image": 48, "classes": 10, "filters": 96, "cells": 1},
    "nasnetlarge": {"image": 40, "classes": 10, "filters": 96, "cells": 2},
    "overfeat": {"image": 79, "classes": 10, "width": 32},
    "resnet18": {**SMALL, "width": 8},
    "resnet20": {"image": 16, "width": 6},
    "resnet50": {**SMALL, "width": 8},
    "resnet50_v1": {**SMALL, "width": 8},
    "resnet50_v2": {**SMALL, "width": 8},
    "sensor_net": {"width": 64},
    "squeezenet": {"image": 48, "classes": 10},
    "text_cnn": {"width": 16, "sequence": 12},
    "trivial": {"image": 32, "classes": 10},
    "vgg11": {**SMALL, "image": 32, "width": 8, "hidden": 64},
    "vit_b16": {"image": 24, "patch": 8, "classes": 10, "layers": 2, "width": 32, "heads": 4, "hidden": 64},
}

# Batch normalisation and rectifiers over some fifty layers make a thousand times as much of each rounding, which then opens or
# closes a rectifier here and there: after one step in single precision, gradients are off by up to a half, in any framework.
# With a curve instead of the rectifiers, the same networks agree to three digits.
OPENED = ("densenet121", "inception3", "inception4", "resnet50_v2")

# The l2 loss is a sum, and no normalisation tames it.
LEARNING_RATES = {"alexnet_conv": 1e-6}


def model_of(name: str) -> str:
    """'bert_base mlm' is a second way to cut bert_base down."""
    return name.partition(" ")[0]


FAMILIES = (*REDUCED, "miscellany")


def graph_of(name: str) -> Graph:
    """Without dropout, whose random numbers no two frameworks share: it is examined by itself."""
    return miscellany() if name == "miscellany" else zoo.build(model_of(name), REDUCED[name]).without_dropout()


def smoothed(graph: Graph) -> Graph:
    """With tanh in place of every rectifier: which of them are open is then no question of rounding."""
    rectifiers = (Activation("relu"), Activation("relu6"))
    return replace(graph, nodes=tuple(replace(n, op=Activation("tanh")) if n.op in rectifiers else n for n in graph.nodes))


def miscellany() -> Graph:
    """What otherwise only networks of hundreds of layers have: a few nodes that a framework compiles in a second."""
    net = Net("miscellany")
    x = net(Conv2d(8, 3, strides=2, padding=((0, 1), (1, 0)), bias=False), net.input(13, 11, 3))
    x = net(Activation("silu"), net(BatchNorm(), x))
    pooled = net(AvgPool(3, 1, "same"), x), net(AvgPool(3, 1, "same", count_padding=True), x), net(MaxPool(3, 1, "same"), x)
    branch = net(Conv2d(16, 3, groups=4, dilation=2), net(Concat(), x, *pooled[:2], net(Pad(channels=(2, -2)), pooled[2])))
    gate = net(Activation("sigmoid"), net(Dense(16), net(GlobalAvgPool(), branch)))
    x = net(Add(), net(Conv2d(16, 1), x), net(Scale(0.3), net(Multiply(), branch, gate)))
    x = net(Activation("tanh"), net(MaxPool(3, 2, "valid", ceil=True), x))
    return net.graph(net(Dense(10), net(Flatten(), x)))


@cache
def covering() -> tuple[str, ...]:
    """Few and small families that together have every operator with every setting that occurs in the whole list."""
    graphs = {name: graph_of(name) for name in FAMILIES}
    shown = {name: {each for node in graph.nodes for each in settings_of(node.op)} for name, graph in graphs.items()}
    chosen = ["mnist_cnn", "resnet20"]  # what everybody compares first
    left = set().union(*shown.values()).difference(*(shown[name] for name in chosen))
    while left:
        best = max(shown, key=lambda name: len(shown[name] & left) / len(graphs[name].nodes))
        chosen.append(best)
        left -= shown[best]
    return tuple(sorted(chosen))


COUNTS = ("strides", "groups", "dilation")
"""fields of which a framework may have other code where they are more than one"""


def settings_of(op: Op) -> set[str]:
    """'Conv2d', 'Conv2d padding=same', 'Conv2d groups>1', 'Activation kind=relu': what a framework could get wrong by itself."""
    kind = type(op).__name__
    settings = {kind}
    for field in fields(op):
        value = getattr(op, field.name)
        if isinstance(value, (bool, str)):
            settings.add(f"{kind} {field.name}={value}")
        elif field.name in COUNTS:
            settings.add(f"{kind} {field.name}{'>1' if value not in (1, (1, 1)) else '=1'}")
    return settings

"""Every family of the zoo at a size that numpy trains in a second, in double precision."""

from __future__ import annotations

from typing import Any

SMALL = {"image": 64, "classes": 10}  # above 1x1 at the end: batch normalisation of three values is chaotic
THIN = {"image": 107, "classes": 10, "width": 0.125}
TINY = {"layers": 2, "width": 32, "heads": 4, "sequence": 12, "vocabulary": 50}

REDUCED: dict[str, dict[str, Any]] = {
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

# The l2 loss is a sum, and no normalisation tames it.
LEARNING_RATES = {"alexnet_conv": 1e-6}


def model_of(name: str) -> str:
    """'bert_base mlm' is a second way to cut bert_base down."""
    return name.partition(" ")[0]

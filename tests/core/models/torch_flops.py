"""Run by an interpreter with PyTorch: what its own counter finds in the built models, as JSON.

The models are built on the meta device: shapes flow, nothing is computed, and a second counts dozens of models.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from steptime.core.backends.pytorch.layers import build_module
from steptime.core.models import zoo
from steptime.core.models.graph import Graph
from steptime.core.parity.families import REDUCED, model_of


def counted(graph: Graph, training: bool) -> dict[str, float]:
    weights = {name: np.zeros(p.shape, np.float32) for name, p in graph.parameters.items()}
    with torch.device("meta"):
        module, _ = build_module(graph, weights, channels_last=False)
        x = torch.zeros((1, *graph.input.shape), dtype=torch.int64 if graph.input_op.kind == "int" else torch.float32)
    if x.ndim == 4:
        x = x.permute(0, 3, 1, 2)
    module.float().train(training)
    # The counter knows the two products of attention when they are written out, not every fused form.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        y = module(x)
        if training:
            y.sum().backward()
    ours = graph.flops_training if training else graph.flops_forward
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    return {"ours": ours, "torch": counter.get_total_flops(), "parameters": trained, "counted": graph.parameter_count}


def main() -> None:
    forward = {name: counted(zoo.build(name, {}), training=False) for name in zoo.models()}
    training = {}
    for name, options in REDUCED.items():
        # Batch normalisation of one value refuses to train.
        larger = {"image": 128} if options.get("image") == 64 else {}
        training[name] = counted(zoo.build(model_of(name), {**options, **larger}), training=True)
    json.dump({"forward": forward, "training": training}, sys.stdout)


main()

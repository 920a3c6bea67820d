"""A network that does next to nothing: what is left is the cost of the input."""

from __future__ import annotations

from steptime.core.models.blocks import dense_logits
from steptime.core.models.graph import Graph, Net
from steptime.core.models.zoo import at_least, model


@model(batch=32, year=2017, paper="tf_cnn_benchmarks, trivial_model")
def trivial(classes: int = 1000, image: int = 227) -> Graph:
    """One unit on all pixels, 4096 on that, and the classes."""
    at_least(1, classes=classes, image=image)
    net = Net("trivial")
    return net.graph(dense_logits(net, net.input(image, image, 3), (1, 4096), classes, 0.0, first=False))

"""The training step in MXNet: the loss inside the traced graph, and optimisers that update as all other backends' do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steptime.core.models.graph import Graph
from steptime.core.reference.optimizers import ADAM_BETAS, ADAM_EPSILON, momentum_of


def with_loss(net: Any, graph: Graph) -> Any:
    """A block of (inputs, labels) to the losses, whose sum is what is differentiated: one for each sample, or one in all."""
    from mxnet import gluon

    class Loss(gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(prefix="loss_")
            self.net = net
            self.cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss(prefix="loss_")

        def hybrid_forward(self, F: Any, x: Any, *labels: Any) -> Any:
            outputs = self.net(x)
            if graph.loss == "l2":
                return 0.5 * F.sum(F.square(outputs))
            return self.cross_entropy(outputs, *labels)

    return Loss()


def optimizer_of(name: str, learning_rate: float) -> Any:
    import mxnet as mx

    if name != "adam":
        return mx.optimizer.SGD(learning_rate=learning_rate, momentum=momentum_of(name))

    class Adam(mx.optimizer.Adam):  # type: ignore[misc]
        """MXNet adds epsilon before the bias is corrected; scaled so, the same kernel adds it afterwards."""

        def update(self, index: int, weight: Any, grad: Any, state: Any) -> None:
            step = self._index_update_count.get(index, self.begin_num_update) + 1
            self.epsilon = ADAM_EPSILON * math.sqrt(1 - self.beta2**step)
            super().update(index, weight, grad, state)

    # The kernel rounds the decays to single precision; the correction of the bias must mean the same ones.
    beta1, beta2 = (float(np.float32(beta)) for beta in ADAM_BETAS)
    return Adam(learning_rate=learning_rate, beta1=beta1, beta2=beta2)

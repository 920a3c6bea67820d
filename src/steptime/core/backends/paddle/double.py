"""What Paddle's own kernels compute with constants of single precision, written out for double precision."""

from __future__ import annotations

import math
from typing import Any

from steptime.core.backends.paddle.layer import CasePlace, learned
from steptime.core.backends.translate import Layer, Link


def exact(constant: float) -> Any:
    """As a tensor: Paddle rounds a number that is added to a tensor to single precision."""
    import paddle

    return paddle.full([1], constant, "float64")


def batch_norm(place: CasePlace) -> Layer:
    """Paddle's takes epsilon and momentum in single precision."""
    import paddle

    op, (x,) = place.op, place.shapes
    width, last = x[-1], len(x) != 3
    shape = (width,) if last else (1, width, 1, 1)
    axes = list(range(len(x))) if last else [0, 2, 3]
    count = place.batch * math.prod(x[:-1])

    class BatchNorm(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, used in (("gamma", op.scale), ("beta", op.center)):
                if used:
                    self.add_parameter(name, self.create_parameter([width]))
            for name in ("mean", "variance"):
                self.register_buffer(name, paddle.zeros([width]))

        def forward(self, x: Any) -> Any:
            mean, variance = self.mean, self.variance
            if self.training:
                mean = x.mean(axes)
                variance = (x - mean.reshape(shape)).square().mean(axes)
                unbiased = variance * (count / max(count - 1, 1))
                for old, new in ((self.mean, mean), (self.variance, unbiased)):
                    paddle.assign(op.momentum * old + (1 - op.momentum) * new.detach(), old)
            y = (x - mean.reshape(shape)) * paddle.rsqrt(variance + exact(op.epsilon)).reshape(shape)
            if op.scale:
                y = y * self.gamma.reshape(shape)
            return y + self.beta.reshape(shape) if op.center else y

    norm = BatchNorm()
    names = ("mean", "variance", *(["gamma"] if op.scale else []), *(["beta"] if op.center else []))
    links = {name: Link((norm, name)) for name in names}
    return Layer(norm, links)


def layer_norm(place: CasePlace) -> Layer:
    """Paddle's takes epsilon in single precision."""
    import paddle

    width = place.shapes[0][-1]

    def apply(x: Any, gamma: Any, beta: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return centred * paddle.rsqrt(variance + exact(place.op.epsilon)) * gamma + beta

    beta = paddle.create_parameter([width], "float64")
    layer = learned("gamma", (width,), apply, shift=beta)
    layer.links["beta"] = Link((layer.module, "shift"))
    return layer


def gelu(x: Any, approximate: bool) -> Any:
    import paddle

    if approximate:
        return 0.5 * x * (1 + paddle.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + paddle.erf(x / math.sqrt(2)))


def cross_entropy(outputs: Any, labels: Any) -> Any:
    """Paddle's clips at -64."""
    import paddle

    truth = paddle.take_along_axis(outputs, labels.unsqueeze(-1), -1).squeeze(-1)
    return (paddle.logsumexp(outputs, -1) - truth).mean()

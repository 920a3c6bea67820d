"""NASNet-A: two cells found by search, stacked.

A cell sees the outputs of the two cells before it, `current` and `previous`, makes both as wide as it wants them, and
joins the sums of five pairs of branches. Padding is 'same' as in the original code; the auxiliary classifier and the
dropping of paths, which only regularise training, are left out.
"""

from __future__ import annotations

from typing import Optional

from steptime.core.errors import OptionError
from steptime.core.models.blocks import conv_bn, pooled_logits
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import Activation, Add, AvgPool, BatchNorm, Concat, Conv2d, MaxPool, Pad
from steptime.core.models.zoo import at_least, model, multiple_of

PAPER = "Zoph et al., Learning Transferable Architectures for Scalable Image Recognition"
EPSILON = 1e-3


@model(batch=16, year=2017, paper=PAPER + "; mobile, 4 @ 1056")
def nasnet(classes: int = 1000, image: int = 224, filters: int = 1056, cells: int = 4, dropout: float = 0.5) -> Graph:
    """`filters` is the number of channels at the end, `cells` the number of normal cells in each of the three stages."""
    return _nasnet("nasnet", classes, image, filters, cells, dropout, stem=32, skip=False)


@model(batch=2, year=2017, paper=PAPER + "; large, 6 @ 4032")
def nasnetlarge(classes: int = 1000, image: int = 331, filters: int = 4032, cells: int = 6, dropout: float = 0.5) -> Graph:
    return _nasnet("nasnetlarge", classes, image, filters, cells, dropout, stem=96, skip=True)


def _nasnet(name: str, classes: int, image: int, filters: int, cells: int, dropout: float, stem: int, skip: bool) -> Graph:
    """`skip`: the cell after a reduction gets as its previous one that before the reduction's own input."""
    at_least(1, classes=classes, cells=cells)
    at_least(32, image=image)
    multiple_of(96, filters=filters)
    if skip and cells < 2:
        raise OptionError("cells", f"option cells of {name} must be at least 2, got {cells}")
    width = filters // 24
    net = Net(name)
    x = conv_bn(net, net.input(image, image, 3), stem, 3, 2, "valid", "conv0", epsilon=EPSILON)
    outs = [x, _reduction(net, "stem0", x, None, width // 4)]
    outs.append(_reduction(net, "stem1", outs[1], outs[0], width // 2))
    for stage in range(3):
        if stage:
            before = outs[-2] if skip else outs[-1]
            reduced = _reduction(net, f"reduction{stage}", outs[-1], outs[-2], width * 2**stage)
            outs = [before, reduced]
        for cell in range(cells):
            outs.append(_normal(net, f"cell{stage * cells + cell}", outs[-1], outs[-2], width * 2**stage))
    x = net(Activation("relu"), outs[-1], name="relu")
    return net.graph(pooled_logits(net, x, classes, dropout))


def _normal(net: Net, name: str, current: Tensor, previous: Tensor, width: int) -> Tensor:
    with net.scope(name):
        p = _fit_previous(net, previous, current, width)
        c = _fit(net, current, width, "fit")
        pairs = [
            (_separable(net, c, width, 5, 1, "0.left"), _separable(net, p, width, 3, 1, "0.right")),
            (_separable(net, p, width, 5, 1, "1.left"), _separable(net, p, width, 3, 1, "1.right")),
            (_average(net, c, 1, "2.left"), p),
            (_average(net, p, 1, "3.left"), _average(net, p, 1, "3.right")),
            (_separable(net, c, width, 3, 1, "4.left"), c),
        ]
        sums = [net(Add(), *pair, name=f"{i}.add") for i, pair in enumerate(pairs)]
        return net(Concat(), p, *sums, name="concat")


def _reduction(net: Net, name: str, current: Tensor, previous: Optional[Tensor], width: int) -> Tensor:
    """Halves height and width. The first cell of all has no previous output: it takes the image's convolution as it is."""
    with net.scope(name):
        if previous is None:
            p, c = current, _fit(net, current, width, "fit")
        elif previous.shape[0] != current.shape[0]:
            c = _fit(net, current, width, "fit")
            p = _fit_previous(net, previous, current, width)
        else:
            p = _fit_previous(net, previous, current, width)
            c = _fit(net, current, width, "fit")
        first = _sum(net, _separable(net, c, width, 5, 2, "0.left"), _separable(net, p, width, 7, 2, "0.right"), 0)
        second = _sum(net, _largest(net, c, "1.left"), _separable(net, p, width, 7, 2, "1.right"), 1)
        third = _sum(net, _average(net, c, 2, "2.left"), _separable(net, p, width, 5, 2, "2.right"), 2)
        fourth = _sum(net, _average(net, first, 1, "3.left"), second, 3)
        fifth = _sum(net, _separable(net, first, width, 3, 1, "4.left"), _largest(net, c, "4.right"), 4)
        return net(Concat(), second, third, fourth, fifth, name="concat")


def _fit(net: Net, x: Tensor, width: int, name: str) -> Tensor:
    x = net(Activation("relu"), x, name=f"{name}.relu")
    return conv_bn(net, x, width, 1, name=name, epsilon=EPSILON)


def _fit_previous(net: Net, previous: Tensor, current: Tensor, width: int) -> Tensor:
    """To `width` channels, and by two paths that see every other pixel if it is twice as large as `current`."""
    if previous.shape[0] == current.shape[0]:
        return _fit(net, previous, width, "fit_previous")
    x = net(Activation("relu"), previous, name="fit_previous.relu")
    shifted = net(Pad((-1, 1), (-1, 1)), x, name="fit_previous.shift")
    paths = [
        net(Conv2d(width // 2, 1, bias=False), net(AvgPool(1, 2), path, name=f"fit_previous.pool{i}"), name=f"fit_previous{i}")
        for i, path in enumerate((x, shifted), 1)
    ]
    x = net(Concat(), *paths, name="fit_previous.concat")
    return net(BatchNorm(EPSILON), x, name="fit_previous.bn")


def _separable(net: Net, x: Tensor, width: int, kernel: int, stride: int, name: str) -> Tensor:
    """Twice: relu, depthwise, pointwise, normalisation."""
    for i in (1, 2):
        x = net(Activation("relu"), x, name=f"{name}.relu{i}")
        step = stride if i == 1 else 1
        x = net(Conv2d(x.shape[2], kernel, step, groups=x.shape[2], bias=False), x, name=f"{name}.depthwise{i}")
        x = conv_bn(net, x, width, 1, name=f"{name}.pointwise{i}", epsilon=EPSILON)
    return x


def _average(net: Net, x: Tensor, stride: int, name: str) -> Tensor:
    return net(AvgPool(3, stride, "same"), x, name=f"{name}.avg")


def _largest(net: Net, x: Tensor, name: str) -> Tensor:
    return net(MaxPool(3, 2, "same"), x, name=f"{name}.max")


def _sum(net: Net, left: Tensor, right: Tensor, number: int) -> Tensor:
    return net(Add(), left, right, name=f"{number}.add")

"""Graphs that do not fit together say which node is at fault."""

import pytest

from steptime.core.errors import GraphError
from steptime.core.models.graph import Graph, Net, Tensor
from steptime.core.models.ops import (
    Activation,
    Add,
    Attention,
    BatchNorm,
    Concat,
    Conv2d,
    Dense,
    Embedding,
    Flatten,
    MaxPool,
    Multiply,
    Pad,
    PositionEmbedding,
    Select,
    TiedDense,
)


def image_net() -> tuple[Net, object]:
    net = Net("net")
    return net, net.input(8, 8, 3)


def small() -> Graph:
    net, x = image_net()
    x = net(Conv2d(4, 3), x, name="conv")
    x = net(Flatten(), net(BatchNorm(), x, name="bn"), name="flatten")
    return net.graph(net(Dense(2), x, name="fc"))


@pytest.mark.parametrize(
    ("op", "shape", "message"),
    [
        (Conv2d(4, 9, padding="valid"), (8, 8, 3), "9x9 window does not fit into 8x8"),
        (Conv2d(4, 3, groups=2), (8, 8, 3), "2 groups do not divide 3 channels"),
        (Conv2d(4, 3, padding="some"), (8, 8, 3), "padding is 'same', 'valid'"),
        (Conv2d(4, 3), (8, 8), r"needs an input of shape \(height, width, channels\)"),
        (MaxPool(0), (8, 8, 3), "must be at least 1"),
        (MaxPool(2, padding=2), (8, 8, 3), "window may see nothing else"),
        (Dense(0), (8,), "one unit"),
        (Activation("rely"), (8,), "unknown activation 'rely'; known: relu"),
        (Attention(3), (8, 24), "3 heads and 3 key and value heads do not divide"),
        (Attention(4, 3), (8, 24), "3 key and value heads do not divide 4 heads"),
        (PositionEmbedding(4), (8, 24), "sequence of 8 is longer than the 4 learned positions"),
        (Select(8), (8, 24), "position 8 is not in a sequence of 8"),
        (Pad(rows=(-4, -4)), (8, 8, 3), "leaves nothing"),
        (Add(), (8,), "adds two or more inputs"),
        (Multiply(), (8,), "takes 2 inputs, got 1"),
        (TiedDense("missing", 4), (8, 2), "'missing/table', which no earlier node owns"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, (str, tuple)) else "",
)
def test_an_operator_that_does_not_fit_is_named_when_it_is_written(op, shape, message):
    net = Net("net")
    x = net.input(*shape)
    with pytest.raises(GraphError, match=rf"net: node 'culprit' \({type(op).__name__}\): .*{message}"):
        net(op, x, name="culprit")


def test_joins_of_different_shapes_are_errors():
    net, x = image_net()
    y = net(Conv2d(4, 3, 2), x, name="y")
    for op in (Add(), Concat(), Multiply()):
        with pytest.raises(GraphError, match="'join'"):
            net(op, x, y, name="join")


def test_a_name_can_be_used_once():
    net, x = image_net()
    net(Flatten(), x, name="a")
    with pytest.raises(GraphError, match=r"node 'a' .*: the name is taken"):
        net(Flatten(), x, name="a")


def test_a_tied_layer_must_have_the_shape_of_the_table():
    net = Net("net")
    x = net(Embedding(10, 4), net.input(3, kind="int", high=10), name="embedding")
    with pytest.raises(GraphError, match=r"shares 'embedding/table' of shape \(10, 4\), but needs \(9, 4\)"):
        net(TiedDense("embedding", 9), x, name="head")
    graph = net.graph(net(TiedDense("embedding", 10), x, name="head"))
    assert graph.parameter_count == 40
    assert graph.shared(graph.by_name["head"]) == {"table": "embedding/table"}


def test_what_nothing_uses_is_an_error():
    net, x = image_net()
    net(Flatten(), x, name="forgotten")
    with pytest.raises(GraphError, match="nothing uses node 'forgotten'"):
        net.graph(net(Flatten(), x, name="used"))


def test_the_output_and_the_loss_must_exist():
    net, x = image_net()
    with pytest.raises(GraphError, match="the output 'nowhere' is not a node"):
        net.graph(Tensor("nowhere", (1,)))
    with pytest.raises(GraphError, match="unknown loss 'l3'; known: cross_entropy, l2"):
        net.graph(x, loss="l3")


def test_a_graph_has_exactly_one_input():
    with pytest.raises(GraphError, match="exactly one Input"):
        Net("empty")(Dense(2))
    net, _ = image_net()
    with pytest.raises(GraphError, match="exactly one Input"):
        net.input(3)


def test_flops_count_products_and_nothing_else():
    graph = small()
    conv, fc = 2 * 8 * 8 * 4 * 27, 2 * 256 * 2
    assert graph.flops_forward == conv + fc
    assert graph.flops_training == 2 * conv + 3 * fc  # nobody needs the gradient of the input


def test_attention_counts_two_products_and_four_more_in_training():
    net = Net("net")
    x = net(Dense(12, bias=False), net.input(5, 4), name="qkv")
    graph = net.graph(net(Attention(2), x, name="attention"))
    dense, attention = 2 * 5 * 4 * 12, 2 * (2 * 5 * 5 * 4)
    assert graph.flops_forward == dense + attention
    assert graph.flops_training == 2 * dense + 3 * attention


def test_a_tied_layer_pays_for_its_gradient():
    net = Net("net")
    x = net(Embedding(10, 4), net.input(3, kind="int", high=10), name="embedding")
    graph = net.graph(net(TiedDense("embedding", 10), x, name="head"))
    assert graph.flops_training == 3 * graph.flops_forward == 3 * (2 * 3 * 4 * 10)

"""Tables and drawings of models."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.catalogue.drawing import boxes_of, describe, layer_table, svg
from steptime.catalogue.layout import GAP, layered
from steptime.core.models import zoo
from steptime.core.models.graph import Net
from steptime.core.models.ops import ACTIVATIONS, Activation, Attention, Conv2d, Dense, MaxPool

SVG = "{http://www.w3.org/2000/svg}"


def test_the_table_adds_up():
    graph = zoo.build("resnet50", {})
    rows = layer_table(graph)
    assert sum(row.parameters for row in rows) == graph.parameter_count
    assert sum(row.flops for row in rows) == graph.flops_forward
    assert (rows[1].name, rows[1].operator, rows[1].shape) == ("conv1", "conv 7x7/2 64", (112, 112, 64))


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (Conv2d(8, (1, 7), (1, 2)), "conv 1x7/1x2 8"),
        (Conv2d(8, 3, groups=8), "depthwise 3x3 8"),
        (Conv2d(8, 3, groups=2), "conv in 2 groups 3x3 8"),
        (MaxPool(3, 1), "max pool 3x3"),
        (Attention(8, 2, True, 1e4), "causal attention, 8 heads in 2 groups, rotary"),
    ],
)
def test_operators_are_described_in_a_few_words(op, words):
    assert describe(op) == words


@pytest.mark.parametrize("name", ["mnist_cnn", "inception3", "nasnet", "llama", "bert_base", "text_cnn"])
def test_a_drawing_is_valid_and_shows_every_node(name):
    graph = zoo.build(name, {})
    root = ElementTree.fromstring(svg(graph))
    assert root.tag == f"{SVG}svg"
    titles = "\n".join(t.text or "" for t in root.iter(f"{SVG}title"))
    assert all(f"{node.name}: " in titles for node in graph.nodes)
    assert len(root.findall(f"{SVG}g")) == len(boxes_of(graph))


@pytest.mark.parametrize("name", ["resnet50", "nasnet", "densenet121"])
def test_everything_lies_inside_the_drawing_and_boxes_do_not_touch(name):
    root = ElementTree.fromstring(svg(zoo.build(name, {})))
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [tuple(float(g.find(f"{SVG}rect").get(k)) for k in ("x", "y", "width", "height")) for g in root.findall(f"{SVG}g")]
    assert all(x > 0 and x + w < width and y > 0 and y + h < height for x, y, w, h in boxes)
    for i, (x, y, w, _) in enumerate(boxes):
        assert not any(y == b[1] and x < b[0] + b[2] and b[0] < x + w for b in boxes[i + 1 :])


def test_names_are_escaped():
    net = Net("a < b & c")
    graph = net.graph(net(Dense(2), net.input(3), name='<script>"fc"</script>'))
    assert "<script>" not in svg(graph)
    ElementTree.fromstring(svg(graph))


def test_every_activation_has_a_name_to_draw():
    for kind in ACTIVATIONS:
        assert describe(Activation(kind)) == kind.replace("_", " ")


@given(st.data())
def test_layouts_keep_lines_pointing_down_and_boxes_apart(data):
    count = data.draw(st.integers(2, 12))
    widths = data.draw(st.lists(st.floats(10, 200), min_size=count, max_size=count))
    edges = [(i - 1 - data.draw(st.integers(0, min(i - 1, 4))), i) for i in range(1, count)]
    edges += [(a, a + 2) for a in range(count - 2) if data.draw(st.booleans())]
    edges = sorted(set(edges))
    layout = layered(widths, edges)
    for a, b in edges:
        assert layout.ranks[a] < layout.ranks[b]
        assert len(layout.lines[a, b]) == layout.ranks[b] - layout.ranks[a] - 1
    for a in range(count):
        assert layout.centres[a] - widths[a] / 2 > -1e-6
        for b in range(a):
            if layout.ranks[a] == layout.ranks[b]:
                assert abs(layout.centres[a] - layout.centres[b]) > (widths[a] + widths[b]) / 2 + GAP - 1e-6

"""Every operator's backward pass against finite differences of its forward pass, in double precision."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from steptime.core.backends.pytorch.layers import TABLE
from steptime.core.models import ops, zoo
from steptime.core.models.graph import facts
from steptime.core.models.weights import batch_of, initial_weights
from steptime.core.reference.kernel import Context
from steptime.core.reference.network import KERNELS, Network

STEP = 1e-6
PROBES = 6
"""elements of each array whose derivative is measured"""

small = st.integers(1, 3)
sizes = st.integers(3, 7)
images = st.tuples(sizes, sizes, st.integers(1, 4))
sequences = st.tuples(st.integers(1, 5), st.integers(1, 6))
shapes = st.one_of(images, sequences, st.tuples(st.integers(1, 9)))
pairs = st.one_of(small, st.tuples(small, small))
crops = st.tuples(st.integers(-1, 2), st.integers(-1, 2))
paddings = st.one_of(
    st.sampled_from(["same", "valid"]), st.integers(0, 1), st.tuples(st.tuples(small, st.just(0)), st.tuples(st.just(1), small))
)


def unary(op: Any, inputs: Any = shapes) -> Any:
    return st.tuples(op, inputs.map(lambda x: (x,)))


@st.composite
def convolutions(draw: Any) -> Any:
    groups, depth = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    height, width = draw(sizes), draw(sizes)
    filters = groups * draw(st.integers(1, 2))
    strides, bias, dilation = draw(pairs), draw(st.booleans()), draw(st.integers(1, 2))
    return ops.Conv2d(filters, draw(pairs), strides, draw(paddings), groups, bias, dilation), ((height, width, groups * depth),)


@st.composite
def attentions(draw: Any) -> Any:
    groups, share, length = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    head = 2 * draw(st.integers(1, 2))
    op = ops.Attention(groups * share, groups, draw(st.booleans()), draw(st.sampled_from([0.0, 100.0])))
    queries, keys = groups * share * head, groups * head
    packed = ((length, queries + 2 * keys),)
    return op, draw(st.sampled_from([packed, ((length, queries), (length, keys), (length, keys))]))


pool_attributes = {"kernel": pairs, "strides": pairs, "padding": paddings, "ceil": st.booleans()}

CASES: dict[type, Any] = {
    ops.Conv2d: convolutions(),
    ops.MaxPool: unary(st.builds(ops.MaxPool, **pool_attributes), images),
    ops.AvgPool: unary(st.builds(ops.AvgPool, **pool_attributes, count_padding=st.booleans()), images),
    ops.GlobalAvgPool: unary(st.just(ops.GlobalAvgPool()), images),
    ops.Pad: unary(st.builds(ops.Pad, crops, crops, crops), images),
    ops.Dense: unary(st.builds(ops.Dense, small, st.booleans())),
    ops.TiedDense: unary(st.builds(ops.TiedDense, st.just("owner"), st.integers(1, 5), st.booleans()), sequences),
    ops.BatchNorm: unary(st.builds(ops.BatchNorm, scale=st.booleans(), center=st.booleans()), images),
    ops.LayerNorm: unary(st.just(ops.LayerNorm()), st.tuples(st.integers(1, 5), st.integers(3, 6))),
    ops.RMSNorm: unary(st.just(ops.RMSNorm()), st.tuples(st.integers(1, 5), st.integers(2, 6))),
    ops.LRN: unary(st.builds(ops.LRN, st.integers(1, 3), alpha=st.just(0.1)), images),
    ops.Activation: unary(st.builds(ops.Activation, st.sampled_from(ops.ACTIVATIONS))),
    ops.Dropout: unary(st.builds(ops.Dropout, st.sampled_from([0.0, 0.3]))),
    ops.Scale: unary(st.just(ops.Scale(0.17))),
    ops.Flatten: unary(st.just(ops.Flatten())),
    ops.Add: st.tuples(st.just(ops.Add()), st.tuples(shapes, st.integers(2, 4)).map(lambda p: (p[0],) * p[1])),
    ops.Multiply: st.tuples(st.just(ops.Multiply()), shapes.flatmap(lambda x: st.sampled_from([(x, x), (x, x[-1:])]))),
    ops.Concat: st.tuples(st.just(ops.Concat()), st.tuples(images, small).map(lambda p: (p[0], (*p[0][:-1], p[1]), p[0]))),
    ops.Embedding: unary(st.just(ops.Embedding(7, 3)), st.tuples(st.integers(1, 6))),
    ops.PositionEmbedding: unary(st.just(ops.PositionEmbedding(6)), sequences),
    ops.SegmentEmbedding: unary(st.just(ops.SegmentEmbedding(2)), sequences),
    ops.Tokens: unary(st.just(ops.Tokens()), images),
    ops.ClassToken: unary(st.just(ops.ClassToken()), sequences),
    ops.Select: unary(st.just(ops.Select(0)), sequences),
    ops.Attention: attentions(),
}


def operators() -> set[type]:
    found, waiting = set(), [ops.Op]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found.add(kind)
    return found - {ops.Op, ops.Window, ops.Pool, ops.Input}


def test_every_operator_is_in_the_reference_in_pytorch_and_in_these_tests():
    assert operators() == set(KERNELS) == set(TABLE) == set(CASES)


def arrays_of(op: ops.Op, inputs: tuple[ops.Shape, ...], random: np.random.RandomState) -> tuple[list[Any], dict[str, Any]]:
    """Random inputs for a batch of two, and random parameters."""
    known = facts(op, inputs)
    weights = {p.name: random.standard_normal(p.shape) for p in (*known.parameters, *known.shared)}
    if isinstance(op, ops.Embedding):
        return [random.randint(op.vocabulary, size=(2, *inputs[0]))], weights
    return [2 * random.standard_normal((2, *shape)) for shape in inputs], weights


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_gradients_are_those_of_finite_differences(kind, data):
    op, inputs = data.draw(CASES[kind])
    random = np.random.RandomState(data.draw(st.integers(0, 99)))
    try:
        xs, weights = arrays_of(op, inputs, random)
    except ValueError:
        assume(False)
    forward, backward = KERNELS[kind]

    def run() -> Any:
        return forward(op, weights, xs, Context(True, np.random.RandomState(1)))

    y, saved = run()
    assert y.shape == (2, *facts(op, inputs).shape)
    direction = random.standard_normal(y.shape)
    to_inputs, to_weights = backward(op, weights, saved, direction)
    assert [g.shape for g in to_inputs if g is not None] == [x.shape for x in xs if x.dtype.kind == "f"]
    pairs_found = [(x, g) for x, g in zip(xs, to_inputs) if g is not None]
    pairs_found += [(weights[name], g) for name, g in to_weights.items()]
    for values, gradient in pairs_found:
        for at in {int(random.randint(values.size)) for _ in range(PROBES)}:
            assert np.asarray(gradient).flat[at] == pytest.approx(slope(run, values, at, direction), rel=1e-4, abs=1e-5)


def slope(run: Any, values: Any, at: int, direction: Any) -> float:
    """How the output moves along `direction` when one element of `values` does."""
    before, ends = values.flat[at], []
    for sign in (1, -1):
        values.flat[at] = before + sign * STEP
        ends.append(float((run()[0] * direction).sum()))
    values.flat[at] = before
    return (ends[0] - ends[1]) / (2 * STEP)


@pytest.mark.parametrize("name", ["gpt2_small", "llama", "vit_b16", "bert_base"])
def test_gradients_of_whole_transformers_are_those_of_finite_differences(name):
    sizes = {"layers": 2, "width": 8, "heads": 2, "dropout": 0.0, "sequence": 5, "vocabulary": 11, "kv_heads": 1}
    sizes.update({"image": 8, "patch": 4, "hidden": 12, "classes": 3, "head": "mlm", "positions": 6})
    graph = zoo.build(name, {k: v for k, v in sizes.items() if k in zoo.find(name).options})
    weights = {k: v.astype(np.float64) * 3 + 0.01 for k, v in initial_weights(graph, 1).items()}
    x, labels = batch_of(graph, 2, 1)
    network = Network(graph, weights)
    _, found = network.gradients(x if x.dtype.kind == "i" else x.astype(np.float64), labels)
    assert set(found) == {k for k, p in graph.parameters.items() if p.trainable}
    random = np.random.RandomState(0)
    for key, gradient in found.items():
        at = int(random.randint(gradient.size))
        before, ends = weights[key].flat[at], []
        for sign in (1, -1):
            weights[key].flat[at] = before + sign * STEP
            ends.append(network.gradients(x, labels)[0])
        weights[key].flat[at] = before
        assert gradient.flat[at] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-4, abs=1e-7), key

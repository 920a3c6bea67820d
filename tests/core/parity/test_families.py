"""The covering families show what all families show."""

import pytest

from steptime.core.models.ops import Activation, Conv2d, MaxPool
from steptime.core.parity.families import FAMILIES, covering, graph_of, settings_of


@pytest.mark.parametrize(
    ("op", "settings"),
    [
        (
            Conv2d(8, 3, strides=2, groups=4),
            {
                "Conv2d",
                "Conv2d padding=same",
                "Conv2d bias=True",
                "Conv2d strides>1",
                "Conv2d groups>1",
                "Conv2d dilation=1",
            },
        ),
        (Conv2d(8, 3, (1, 2), dilation=2), {"Conv2d strides>1", "Conv2d groups=1", "Conv2d dilation>1"}),
        (MaxPool(3, 1, "valid", ceil=True), {"MaxPool padding=valid", "MaxPool strides=1", "MaxPool ceil=True"}),
        (Activation("silu"), {"Activation", "Activation kind=silu"}),
    ],
    ids=["strided and grouped", "strided one way and dilated", "pool", "activation"],
)
def test_what_an_operator_shows_is_read_from_its_fields(op, settings):
    assert settings <= settings_of(op)


def nodes(names):
    return [node.op for name in names for node in graph_of(name).nodes]


def windows(names):
    """By hand, of every operator that moves a window: its kind, and whether it moves by more than one pixel or has gaps."""
    moved = [op for op in nodes(names) if hasattr(op, "strides")]
    return {(type(op), op.strides not in (1, (1, 1)), getattr(op, "dilation", 1) not in (1, (1, 1))) for op in moved}


def test_the_covering_families_have_every_operator_with_every_setting():
    assert {type(op) for op in nodes(covering())} == {type(op) for op in nodes(FAMILIES)}
    assert windows(covering()) == windows(FAMILIES)
    assert {each for op in nodes(covering()) for each in settings_of(op)} == {
        each for op in nodes(FAMILIES) for each in settings_of(op)
    }


def test_they_are_few():
    assert len(covering()) < len(FAMILIES) / 2

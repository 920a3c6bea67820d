"""Windows are counted as one would count them by hand."""

from itertools import product

import numpy as np
import pytest

from steptime.core.backends.attention import rotation
from steptime.core.backends.channels_first import dense_kernel
from steptime.core.backends.windows import reach, window_counts
from steptime.core.models.ops import AvgPool, Conv2d, MaxPool

POOLS = [
    AvgPool(kernel, strides, padding, count_padding=counted, ceil=ceil)
    for kernel, strides, padding, counted, ceil in product((2, 3), (1, 2), ("same", "valid", 1), (True, False), (True, False))
]


@pytest.mark.parametrize("pool", POOLS, ids=str)
@pytest.mark.parametrize("size", [5, 8])
def test_a_window_counts_the_image_and_the_padding_if_asked_but_not_what_hangs_over(pool, size):
    shape = (size, size + 1, 1)
    (rows, columns), kernel, strides, _, pads = pool.window(shape)
    counted = np.full((size + 20, size + 21), pool.count_padding)
    counted[:, : 10 - pads[1][0]] = counted[:, 10 + shape[1] + pads[1][1] :] = False
    counted[: 10 - pads[0][0]] = counted[10 + size + pads[0][1] :] = False
    counted[10 : 10 + size, 10 : 10 + shape[1]] = True
    for i, j in product(range(rows), range(columns)):
        top, left = 10 + i * strides[0] - pads[0][0], 10 + j * strides[1] - pads[1][0]
        assert window_counts(pool, shape)[i, j] == counted[top : top + kernel[0], left : left + kernel[1]].sum()


def test_windows_that_hang_over_the_edge_need_more_padding_at_the_end():
    assert reach(MaxPool(3, 2), (8, 8, 1)) == ((0, 0), (0, 0))
    assert reach(MaxPool(3, 2, ceil=True), (8, 9, 1)) == ((0, 1), (0, 0))
    assert reach(Conv2d(4, 3, dilation=2), (8, 8, 1)) == ((2, 2), (2, 2))


def test_rotation_turns_pairs_that_are_half_a_head_apart():
    cosine, sine = rotation(10000.0, 4, 6)
    assert cosine.shape == sine.shape == (4, 6)
    assert (cosine[:, :3] == cosine[:, 3:]).all() and (sine[:, :3] == sine[:, 3:]).all()
    assert np.allclose(np.arctan2(sine[1, :3], cosine[1, :3]), 10000.0 ** (-np.arange(3) / 3))


@pytest.mark.parametrize("order", [None, np.array([2, 0, 1, 3])], ids=["as it is", "reordered"])
def test_a_dense_kernel_comes_back_as_it_went(order):
    kernel = np.arange(12.0).reshape(4, 3)
    forth, back = dense_kernel(order)
    assert (back(forth(kernel)) == kernel).all()
    assert (forth(kernel) == (kernel if order is None else kernel[order]).T).all()

"""Rotary embedding: by how much the pairs of a head's elements are turned, which is the same in every framework."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def rotation(base: float, length: int, head: int) -> tuple[Array, Array]:
    """Cosines and sines, (positions, head width), in double precision: x cos + (-second half, first half) sin turns a head.

    An element and the one half a head further on are a pair, so that the second half repeats the first.
    """
    angles = np.tile(np.outer(np.arange(length), base ** (-np.arange(0, head, 2) / head)), 2)
    return np.cos(angles), np.sin(angles)

"""What attention needs that is the same in every framework: the angles of rotary embedding, and the causal mask."""

from __future__ import annotations

import numpy as np

from steptime.core.backends.base import Array


def rotation(base: float, length: int, head: int) -> tuple[Array, Array]:
    """Cosines and sines, (positions, head width), in double precision: x cos + (-second half, first half) sin turns a head.

    An element and the one half a head further on are a pair, so that the second half repeats the first.
    """
    angles = np.tile(np.outer(np.arange(length), base ** (-np.arange(0, head, 2) / head)), 2)
    return np.cos(angles), np.sin(angles)


def causal_mask(length: int) -> Array:
    """(positions, positions) to be added to the scores: minus infinity where a position would see a later one."""
    return np.where(np.tri(length, dtype=bool), 0, -np.inf)

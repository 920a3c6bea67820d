"""The constants of the optimisers, the same in every framework."""

from __future__ import annotations

MOMENTUM = 0.9
ADAM_BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-8


def momentum_of(optimizer: str) -> float:
    """Of plain gradient descent, which most frameworks have as one optimiser with that of momentum."""
    return MOMENTUM if optimizer == "momentum" else 0.0

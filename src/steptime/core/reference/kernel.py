"""What an operator's numpy implementation is given and gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

Array = np.ndarray[Any, Any]
Weights = dict[str, Array]


@dataclass
class Context:
    """One forward pass: its mode, its randomness, and the new running statistics of the node at work."""

    training: bool
    random: np.random.RandomState
    updates: Weights = field(default_factory=dict)


Forward = Callable[[Any, Weights, list[Array], Context], tuple[Array, Any]]
"""operator, its parameters, its inputs -> output, whatever backward needs"""
Backward = Callable[[Any, Weights, Any, Array], tuple[list[Optional[Array]], Weights]]
"""operator, its parameters, what forward kept, gradient of the output -> gradients of inputs and of parameters"""
Kernels = dict[type, tuple[Forward, Backward]]

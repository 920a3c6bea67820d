"""How far from the reference a backend may be, by precision. Figures are relative, as steptime.core.parity.compare makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.core.backends.base import Backend
from steptime.core.schema import Precision

Limits = Mapping[str, float]

# In double precision agreement can be demanded to many digits, also after training.
DOUBLE = {"outputs": 1e-10, "loss": 1e-6, "weights": 1e-6, "statistics": 1e-6, "outputs_after": 1e-6}
# Adam divides a gradient by its own size: where it is nothing but rounding, so is the update.
ADAM = {**DOUBLE, "weights": 1e-5, "outputs_after": 1e-5}
# In single precision after one step: batch normalisation over a few samples amplifies rounding with each further one.
SINGLE = {"outputs": 1e-4, "loss": 1e-4, "weights": 1e-2, "statistics": 1e-3}
# Narrower types in their outputs: the share of the largest output that so few bits leave uncertain in a small network.
NARROW = {Precision.BF16: {"outputs": 0.05}, Precision.FP16: {"outputs": 0.01}, Precision.INT8: {"outputs": 0.1}}
LEAST_NARROW = 1e-5
"""outputs closer than this to the reference were not computed in a narrow type"""
DROPOUT = {"kept_error": 0.02, "scale_error": 1e-3, "scale_spread": 1e-2}
SEEDED = ("steps_differ", "repeatable", "seed_matters")


def limits_of(backend: Backend, precision: Precision, optimizer: str = "sgd") -> Limits:
    """What the precision allows, widened where the backend says that its framework cannot do better."""
    rule = {Precision.FP64: ADAM if optimizer == "adam" else DOUBLE, Precision.FP32: SINGLE, **NARROW}[precision]
    wider = {what: limit for what, (limit, _) in backend.tolerances.items()}
    if optimizer in wider:
        wider.update(dict.fromkeys(("loss", "weights", "statistics", "outputs_after"), wider[optimizer]))
    return {what: max(limit, wider.get(what, 0.0)) for what, limit in rule.items()}


def objections(figures: Mapping[str, Any], limits: Limits) -> list[str]:
    """The figures that are over their limits, in words; empty: the same."""
    if "wrong" in figures:
        return [str(figures["wrong"])]
    far = [
        f"{what.replace('_', ' ')} off by {figures[what]:.2g}, allowed {limit:g}"
        for what, limit in limits.items()
        if what in figures and not figures[what] <= limit
    ]
    return far + [f"dropout: not {what.replace('_', ' ')}" for what in SEEDED if not figures.get(what, True)]

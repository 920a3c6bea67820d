"""Quantiles of Student's t, which an interpreter without scipy needs too."""

from __future__ import annotations

import math
from statistics import NormalDist


def quantile(probability: float, freedom: float) -> float:
    """Two exact cases, else Hill's expansion (CACM algorithm 396): four digits or better from 1 degree of freedom on."""
    tail = 2 * (1 - probability)
    if freedom <= 1:
        return math.tan(math.pi * (probability - 0.5)) if freedom == 1 else math.inf
    if freedom == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    a = 1 / (freedom - 0.5)
    b = 48 / (a * a)
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * freedom
    y = (d * tail) ** (2 / freedom)
    if y > 0.05 + a:
        return _middle(tail, freedom, a, b, c, d)
    y = ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) * y - 1) * (
        freedom + 1
    ) / (freedom + 2) + 1 / y
    return math.sqrt(freedom * y)


def _middle(tail: float, freedom: float, a: float, b: float, c: float, d: float) -> float:
    x = NormalDist().inv_cdf(tail / 2)
    y = x * x
    if freedom < 5:
        c += 0.3 * (freedom - 4.5) * (x + 0.6)
    c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    y = a * y * y
    y = math.expm1(y)
    return math.sqrt(freedom * y)

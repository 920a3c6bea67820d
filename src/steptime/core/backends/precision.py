"""The names that frameworks give to precisions."""

from __future__ import annotations

from steptime.core.schema import Case

DTYPES = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
NARROW = ("bf16", "fp16")


def is_mixed(case: Case) -> bool:
    """Whether parameters stay in single precision while products are computed in a narrower type: training does that."""
    return case.phase == "training" and case.precision in NARROW

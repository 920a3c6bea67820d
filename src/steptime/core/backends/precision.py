"""The names that frameworks give to precisions."""

from __future__ import annotations

from steptime.core.schema import Case, Phase, Precision

DTYPES = {
    Precision.FP64: "float64",
    Precision.FP32: "float32",
    Precision.TF32: "float32",
    Precision.BF16: "bfloat16",
    Precision.FP16: "float16",
}
NARROW = (Precision.BF16, Precision.FP16)


def is_mixed(case: Case) -> bool:
    """Whether parameters stay in single precision while products are computed in a narrower type: training does that."""
    return case.phase == Phase.TRAINING and case.precision in NARROW

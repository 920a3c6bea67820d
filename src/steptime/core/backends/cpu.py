"""What backends say to their frameworks about the CPU: how many threads, and which instructions."""

from __future__ import annotations

import os

ONEDNN_SETS = ("AVX512_CORE_FP16", "AVX512_CORE_BF16", "AVX512_CORE", "AVX2")
ONEDNN_CAPS: tuple[dict[str, str], ...] = tuple({"ONEDNN_MAX_CPU_ISA": name} for name in ONEDNN_SETS)
"""variables that keep oneDNN from newer instructions, the mildest first"""


def tensorflow_variables(threads: int) -> dict[str, str]:
    return {"TF_NUM_INTRAOP_THREADS": str(threads), "TF_NUM_INTEROP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}


def set_tensorflow_threads(threads: int) -> None:
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def set_torch_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)


def use_first_cpus(count: int) -> None:
    """Limits the process to that many CPUs, for frameworks whose pool has as many threads as there are CPUs."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])

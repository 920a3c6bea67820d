"""Paddle's inference engine: the traced network saved, optimised and run by oneDNN, as it is deployed on CPUs."""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable

from steptime.core.backends.base import Array
from steptime.core.errors import Unsupported
from steptime.core.schema import Case, Precision

PRODUCTS = ("convolution", "inner_product", "matmul")
BROKEN_PASS = "conv_concat_activation_onednn_fuse_pass"
"""fails where convolutions with a bias are joined before their activation (3.3.1)"""
WITHOUT_REASON = "std::exception"
"""all that Paddle says of an exception of oneDNN"""
TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "s8": "int8", "u8": "int8"}


class Predictor:
    """The batch lies in the input's buffer; `run` computes it again, and copies nothing."""

    def __init__(self, network: Any, inputs: Array, case: Case) -> None:
        self._predictor = _loaded(network, inputs, case)
        self.feed: Callable[[Array], None] = self._predictor.get_input_handle(self._predictor.get_input_names()[0]).copy_from_cpu
        self.feed(inputs)
        self.run: Callable[[], None] = self._predictor.run
        self.product_types = ", ".join(sorted(self._executed(case)))
        if case.precision == Precision.BF16 and "bfloat16" not in self.product_types:
            ran = self.product_types or "none that oneDNN executed"
            raise Unsupported(f"paddle's predictor computes this model's products in another type than bf16: {ran}")

    def _executed(self, case: Case) -> set[str]:
        """By a first run, in which oneDNN fails where it has no bf16 kernel for an operator of the model on this CPU."""
        try:
            return product_types(self.run)
        except RuntimeError as problem:
            if case.precision == Precision.BF16 and str(problem) == WITHOUT_REASON:
                raise Unsupported(f"paddle's predictor cannot run this model in bf16 on this CPU: {problem}") from None
            raise

    def outputs(self) -> Array:
        self.run()
        (name,) = self._predictor.get_output_names()
        y: Array = self._predictor.get_output_handle(name).copy_to_cpu().astype("float64")
        return y


def _loaded(network: Any, inputs: Array, case: Case) -> Any:
    """The predictor reads files only; they are gone once it has."""
    import paddle
    from paddle import inference

    spec = paddle.static.InputSpec(inputs.shape, str(inputs.dtype), "x")
    with tempfile.TemporaryDirectory(prefix="steptime-paddle-") as folder:
        path = Path(folder) / "model"
        paddle.jit.save(paddle.jit.to_static(network, input_spec=[spec], full_graph=True), str(path))
        config = inference.Config(f"{path}.json", f"{path}.pdiparams")
        config.disable_gpu()
        config.enable_mkldnn()
        config.delete_pass(BROKEN_PASS)
        if case.precision == Precision.BF16:
            config.enable_mkldnn_bfloat16()
        config.set_cpu_math_library_num_threads(case.threads)
        config.disable_glog_info()
        return inference.create_predictor(config)


def _library(name: str) -> ctypes.CDLL:
    """One that Paddle brought and has loaded."""
    import paddle

    return ctypes.CDLL(str(Path(paddle.__file__).parent / "libs" / name))


def openmp_threads() -> int:
    """That the next parallel region would have."""
    return int(_library("libiomp5.so").omp_get_max_threads())


def product_types(run: Callable[[], Any]) -> set[str]:
    """Of the convolutions and matrix products that oneDNN says it executes in one run."""
    onednn, libc = _library("libdnnl.so.3"), ctypes.CDLL(None)
    stdout = os.dup(1)
    with tempfile.TemporaryFile() as file:
        libc.fflush(None)
        os.dup2(file.fileno(), 1)
        onednn.dnnl_set_verbose(1)
        try:
            run()
        finally:
            onednn.dnnl_set_verbose(0)
            libc.fflush(None)
            os.dup2(stdout, 1)
            os.close(stdout)
        file.seek(0)
        return executed_types(file.read().decode(errors="replace"))


def executed_types(log: str) -> set[str]:
    """From the lines of oneDNN's verbose mode."""
    lines = (line for line in log.splitlines() if "exec" in line and any(f",{kind}," in line for kind in PRODUCTS))
    matches = (re.search(r"\bsrc[:_]([a-z0-9]+)", line) for line in lines)
    return {TYPES.get(match[1], match[1]) for match in matches if match}

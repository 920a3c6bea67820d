"""ONNX Runtime: inference of the graph that we export; inputs and outputs are bound, so that no copies are timed."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.onnx_export.export import INPUT, OUTPUT, export, graph_output, natural_input, square_product
from steptime.core.backends.onnx_export.quantize import quantized
from steptime.core.backends.peak import CPU_SIZES, best_rate
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Phase, Precision

OPTIMIZATIONS = ("all", "extended", "basic", "none")
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


class Bound:
    """A session with its input and output in place."""

    def __init__(self, model: Any, case: Case, x: Array) -> None:
        import onnxruntime

        self.session = onnxruntime.InferenceSession(
            model.SerializeToString(), session_options(case), providers=[PROVIDERS[case.device]]
        )
        used = self.session.get_providers()[0]
        if used != PROVIDERS[case.device]:
            raise Unsupported(f"onnxruntime would run this on {used}, not on {case.device}")
        self._binding = self.session.io_binding()
        self._x = onnxruntime.OrtValue.ortvalue_from_numpy(x, case.device)
        self._binding.bind_ortvalue_input(INPUT, self._x)
        self._binding.bind_output(OUTPUT, case.device)
        self._run = self.session.run_with_iobinding

    def feed(self, x: Array) -> None:
        self._x.update_inplace(x)

    def run(self) -> None:
        self._run(self._binding)

    def wait(self) -> None:
        self._binding.synchronize_outputs()

    def output(self) -> Array:
        array: Array = self._binding.copy_outputs_to_cpu()[0]
        return array


class OnnxProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        self._graph, self._dtype = graph, dtype_of(case.precision)
        x = natural_input(graph, inputs, self._dtype)
        model = export(graph, weights, case.batch, self._dtype)
        if case.precision == Precision.INT8:
            model = quantized(model, x)
        self._weights = dict(weights)
        self._bound = Bound(model, case, x)
        self.step = self._bound.run  # type: ignore[method-assign]
        self.wait = self._bound.wait  # type: ignore[method-assign]

    def feed(self, inputs: Array, labels: Array) -> None:
        """Into the input that is bound."""
        self._bound.feed(natural_input(self._graph, inputs, self._dtype))

    def outputs(self) -> Array:
        self._bound.run()
        self._bound.wait()
        return graph_output(self._bound.output())

    def weights(self) -> dict[str, Array]:
        """Inference changes none."""
        return self._weights


def dtype_of(precision: Precision) -> Any:
    return np.float16 if precision == Precision.FP16 else np.float32


def session_options(case: Case) -> Any:
    import onnxruntime

    level = option(BACKEND, case, "optimize")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = case.threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    named = "ORT_DISABLE_ALL" if level == "none" else f"ORT_ENABLE_{level.upper()}"
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, named)
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(option(BACKEND, case, "spin"))))
    return options


class OnnxRuntime(Backend):
    name = "onnxruntime"
    phases = (Phase.INFERENCE,)
    precisions = (Precision.FP32, Precision.FP16, Precision.INT8)
    devices = ("cpu", "cuda")
    options = {"optimize": "all", "spin": True}
    choices = {"optimize": OPTIMIZATIONS}
    variants = ({"optimize": "none"},)
    modules = preloads = ("onnxruntime", "onnx")
    environment_name = "onnxruntime"
    accepts_batches = True

    def start(self, case: Case) -> None:
        import onnxruntime

        onnxruntime.set_default_logger_severity(3)

    def check(self, case: Case) -> None:
        import onnxruntime

        if case.phase == Phase.TRAINING:
            raise Unsupported("onnxruntime runs inference only: its training package is discontinued")
        super().check(case)
        if PROVIDERS[case.device] not in onnxruntime.get_available_providers():
            raise Unsupported("this onnxruntime sees no CUDA device")
        if case.device == "cpu" and case.precision == Precision.FP16:
            raise Unsupported("onnxruntime on the CPU has fp16 kernels for a few operators only and casts to fp32 for the rest")

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return OnnxProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        import onnx
        import onnxruntime

        settings = {
            "layout": "NCHW",
            "optimize": str(option(self, case, "optimize")),
            "provider": PROVIDERS[case.device],
            "intra_op_threads": str(session_options(case).intra_op_num_threads),
            "inter_op_threads": "1",
            "spin": str(option(self, case, "spin")).lower(),
        }
        packages = {"numpy": np.__version__, "onnx": onnx.__version__}
        return Facts("onnxruntime", onnxruntime.__version__, case.threads, case.precision, packages, settings)

    def peak_flops(self, case: Case) -> float:
        if case.precision == Precision.INT8:
            raise Unsupported("onnxruntime has no plain int8 matrix product to measure the machine's limit with")
        dtype = dtype_of(case.precision)

        def multiply(size: int) -> Callable[[], None]:
            return Bound(square_product(size, dtype), case, np.ones((size, size), dtype)).run

        return best_rate(multiply, lambda: None, CPU_SIZES)


BACKEND = OnnxRuntime()

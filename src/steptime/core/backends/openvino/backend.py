"""OpenVINO: inference of the graph that we export to ONNX, one stream, for latency, in the precision that is asked for."""

from __future__ import annotations

import importlib
from typing import Any, Callable

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights
from steptime.core.backends.cpu import ONEDNN_CAPS
from steptime.core.backends.onnx_export.export import export, graph_output, natural_input, square_product
from steptime.core.backends.onnx_export.quantize import quantized
from steptime.core.backends.peak import CPU_SIZES, best_rate
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Phase, Precision

HINTS = {Precision.FP32: "f32", Precision.BF16: "bf16", Precision.FP16: "f16", Precision.INT8: "f32"}
"""what is not quantized in an int8 model stays in fp32"""
CAPABILITIES = {Precision.FP32: "FP32", Precision.BF16: "BF16", Precision.FP16: "FP16", Precision.INT8: "INT8"}
EIGHT_BITS = ("i8", "u8")
EIGHT_BITS_OFF = 0.3
"""of the largest output: more than quantizing takes from any network, less than a wrong kernel does"""
PRODUCTS = ("Convolution", "FullyConnected", "MatMul", "GroupConvolution")
DEVICE = "CPU"


class Request:
    """A compiled model with its input in place."""

    def __init__(self, model: Any, case: Case, x: Array) -> None:
        import openvino

        core = openvino.Core()
        self.compiled = core.compile_model(core.read_model(model=model.SerializeToString()), DEVICE, configuration(case))
        ran = self.compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
        if ran != HINTS[case.precision]:
            raise Unsupported(f"openvino would run {ran} instead of {case.precision} on this device")
        self._request = self.compiled.create_infer_request()
        self._x = x
        self._request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
        self.run: Callable[[], None] = self._request.start_async
        self.wait: Callable[[], None] = self._request.wait

    def feed(self, x: Array) -> None:
        """Into the memory that the input tensor shares."""
        self._x[...] = x

    def output(self) -> Array:
        return np.array(self._request.get_output_tensor().data)


class OpenVinoProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        self._weights, self._graph = dict(weights), graph
        model, x = export(graph, weights, case.batch), natural_input(graph, inputs, np.float32)
        if case.precision == Precision.INT8:
            self._request = _eight_bits(model, case, x)
        else:
            self._request = Request(model, case, x)
        self.step, self.wait = self._request.run, self._request.wait  # type: ignore[method-assign]

    def feed(self, inputs: Array, labels: Array) -> None:
        self._request.feed(natural_input(self._graph, inputs, np.float32))

    def outputs(self) -> Array:
        self.step()
        self.wait()
        return graph_output(self._request.output())

    def weights(self) -> dict[str, Array]:
        """Inference changes none."""
        return self._weights


def _eight_bits(model: Any, case: Case, x: Array) -> Request:
    """Compared with the model that it was made from: dense layers of few samples come out as garbage (2026.4.1)."""
    request, plain = Request(quantized(model, x), case, x), Request(model, case, x)
    for each in (request, plain):
        each.run()
        each.wait()
    if not _in_eight_bits(request.compiled):
        raise Unsupported("openvino runs none of this model's products in 8 bits on this device")
    truth = plain.output()
    off = float(np.abs(request.output() - truth).max() / np.abs(truth).max())
    if not off <= EIGHT_BITS_OFF:
        raise Unsupported(f"openvino's 8-bit outputs of {case.model} with batch {case.batch} are off by {off:.2g} of the largest")
    return request


def _in_eight_bits(compiled: Any) -> bool:
    """Whether any product of the compiled model really runs in them."""
    for operator in compiled.get_runtime_model().get_ops():
        facts = operator.get_rt_info()
        if str(facts["layerType"].astype(str)) in PRODUCTS and str(facts["runtimePrecision"].astype(str)) in EIGHT_BITS:
            return True
    return False


def configuration(case: Case) -> dict[str, Any]:
    """The precision is always said: left alone, OpenVINO takes bf16 for a model of fp32 where it thinks it can."""
    return {
        "INFERENCE_PRECISION_HINT": HINTS[case.precision],
        "INFERENCE_NUM_THREADS": case.threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }


class OpenVino(Backend):
    name = "openvino"
    phases = (Phase.INFERENCE,)
    precisions = (Precision.FP32, Precision.BF16, Precision.FP16, Precision.INT8)
    modules = ("openvino", "onnx", "onnxruntime")
    preloads = ("openvino", "onnx")
    environment_name = "openvino"
    accepts_batches = True
    instruction_caps = ONEDNN_CAPS

    def environment(self, case: Case) -> dict[str, str]:
        return {**super().environment(case), "OPENVINO_TELEMETRY_OPT_OUT": "1"}

    def start(self, case: Case) -> None:
        importlib.import_module("openvino")

    def check(self, case: Case) -> None:
        import openvino

        if case.phase == Phase.TRAINING:
            raise Unsupported("openvino runs inference only")
        super().check(case)
        known = openvino.Core().get_property(DEVICE, "OPTIMIZATION_CAPABILITIES")
        if CAPABILITIES[case.precision] not in known:
            raise Unsupported(f"openvino has no {case.precision} on this device; it has {', '.join(known)}")

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return OpenVinoProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        import onnx
        import openvino

        settings = {"layout": "NCHW", **{k.lower(): str(v) for k, v in configuration(case).items()}}
        packages = {"numpy": np.__version__, "onnx": onnx.__version__}
        packages["device"] = openvino.Core().get_property(DEVICE, "FULL_DEVICE_NAME")
        return Facts("openvino", openvino.__version__.partition("-")[0], case.threads, case.precision, packages, settings)

    def peak_flops(self, case: Case) -> float:
        if case.precision == Precision.INT8:
            raise Unsupported("openvino has no plain int8 matrix product to measure the machine's limit with")
        requests: list[Request] = []

        def multiply(size: int) -> Callable[[], None]:
            requests.append(Request(square_product(size, np.float32), case, np.ones((size, size), np.float32)))
            return requests[-1].run

        return best_rate(multiply, lambda: requests[-1].wait(), CPU_SIZES)


BACKEND = OpenVino()

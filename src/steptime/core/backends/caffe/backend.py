"""Caffe 1.0: the graph becomes the text of a network; a step is one of Caffe's own solvers or one forward pass of its net."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights
from steptime.core.backends.caffe.layers import DATA, LABEL, LOSS, net_text, solver_text, write
from steptime.core.backends.caffe.text import message
from steptime.core.backends.caffe.writer import Writer
from steptime.core.backends.channels_first import to_channels_first, to_channels_last
from steptime.core.backends.peak import LARGE_CPU_SIZES, best_rate
from steptime.core.backends.translate import Link
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Phase, Precision


def from_text(make: Callable[..., Any], text: str, *arguments: Any) -> Any:
    """What Caffe makes of a file with this text: it reads no other way."""
    with tempfile.TemporaryDirectory(prefix="steptime-caffe-") as folder:
        path = Path(folder) / "text.prototxt"
        path.write_text(text)
        return make(str(path), *arguments)


def let_others_run(layer: int) -> None:
    """Called before each layer: pycaffe holds Python's lock for a whole step, and this lets the heartbeat have it."""


class CaffeProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import caffe

        self._caffe, self._graph, self._case = caffe, graph, case
        self._inputs = to_channels_first(inputs)
        training = case.phase == Phase.TRAINING
        writer = write(graph, case.batch, training)
        self._links, self._output = writer.links, writer.output
        self._steps = 0
        self._tested: Any = None
        caffe.set_random_seed(case.seed)
        self._net = self._make_net(net_text(graph.name, writer))
        self._fill(self._net, writer, weights)
        self.feed(inputs, labels)
        self._net.before_forward(let_others_run)
        self._net.before_backward(let_others_run)

    def _make_net(self, text: str) -> Any:
        caffe, case = self._caffe, self._case
        if case.phase == Phase.INFERENCE:
            self.step = self._infer  # type: ignore[method-assign]
            return from_text(caffe.Net, text, caffe.TEST)
        if case.optimizer == "none":
            self.step = self._differentiate  # type: ignore[method-assign]
            return from_text(caffe.Net, text, caffe.TRAIN)
        solver = solver_text(text, case.optimizer, case.learning_rate, case.seed)
        self._solver = from_text(caffe.get_solver, solver)
        self.step = self._train  # type: ignore[method-assign]
        return self._solver.net

    def _fill(self, net: Any, writer: Writer, weights: Weights) -> None:
        for name, value in writer.filled.items():
            net.blobs[name].data[...] = value
        for name, array in writer.fixed.items():
            layer, _, blob = name.partition(":")
            net.params[layer][int(blob or 0)].data[...] = array
        for name, link in writer.links.items():
            blob_of(net, link).data[...] = link.to_framework(weights[name])

    def feed(self, inputs: Array, labels: Array) -> None:
        """Into the blobs themselves: a view of Caffe's own memory, with no copy in between."""
        self._inputs = to_channels_first(inputs)
        self._net.blobs[DATA].data[...] = self._inputs
        if LABEL in self._net.blobs:
            self._net.blobs[LABEL].data[...] = labels

    def _infer(self) -> None:
        self._net.forward()

    def _train(self) -> None:
        self._solver.step(1)
        self._steps += 1

    def _differentiate(self) -> None:
        self._net.clear_param_diffs()
        self._net.forward()
        self._net.backward()
        self._steps += 1

    def loss(self) -> Optional[float]:
        return float(self._net.blobs[LOSS].data) if self._steps else None

    def outputs(self) -> Array:
        net = self._net if self._case.phase == Phase.INFERENCE else self._testing()
        net.blobs[DATA].data[...] = self._inputs
        net.forward()
        y: Array = net.blobs[self._output].data.astype(np.float64)
        return to_channels_last(y)

    def _testing(self) -> Any:
        """The same network as Caffe runs it after training, on the same weights."""
        if self._tested is None:
            writer = write(self._graph, self._case.batch, training=False)
            self._tested = from_text(self._caffe.Net, net_text(self._graph.name, writer), self._caffe.TEST)
            self._fill(self._tested, writer, self.weights())
            self._tested.share_with(self._net)
        return self._tested

    def weights(self) -> dict[str, Array]:
        return {name: link.to_graph(blob_of(self._net, link).data.astype(np.float64)) for name, link in self._links.items()}


def blob_of(net: Any, link: Link) -> Any:
    layer, number = link.target
    return net.params[layer][number]


class Caffe(Backend):
    name = "caffe"
    environment_name = "caffe"
    modules = preloads = ("caffe",)
    accepts_batches = True
    tolerances = {"adam": (0.05, "Adam divides a gradient by its own size, and Caffe has single precision only")}

    def environment(self, case: Case) -> dict[str, str]:
        return {**super().environment(case), "GLOG_minloglevel": "2"}

    def start(self, case: Case) -> None:
        import caffe

        caffe.set_mode_cpu()

    def check(self, case: Case) -> None:
        if case.precision != Precision.FP32:
            raise Unsupported(f"caffe has no precision {case.precision}: its Python interface computes in fp32 only")
        super().check(case)

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return CaffeProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        import caffe

        settings = {"layout": "NCHW", "blas": "OpenBLAS" if openblas_threads() else "unknown"}
        return Facts("caffe", caffe.__version__, openblas_threads(), case.precision, {"numpy": np.__version__}, settings)

    def peak_flops(self, case: Case) -> float:
        """Of an InnerProduct layer: a matrix product by the BLAS that Caffe was built with."""
        import caffe

        def multiply(size: int) -> Callable[[], None]:
            layers = [
                {"name": DATA, "type": "Input", "top": DATA, "input_param": {"shape": {"dim": [size, size]}}},
                {
                    "name": "product",
                    "type": "InnerProduct",
                    "bottom": DATA,
                    "top": "product",
                    "inner_product_param": {"num_output": size, "bias_term": False},
                },
            ]
            net = from_text(caffe.Net, message({"name": "product", "layer": layers}), caffe.TEST)
            net.blobs[DATA].data[...] = 1
            net.params["product"][0].data[...] = 1

            def run() -> None:
                net.forward()

            return run

        return best_rate(multiply, lambda: None, LARGE_CPU_SIZES)


def openblas_threads() -> Optional[int]:
    """Of the library that Caffe's own products run in; numpy has another one."""
    try:
        return int(ctypes.CDLL("libopenblas.so.0").openblas_get_num_threads())
    except (OSError, AttributeError):
        return None


BACKEND = Caffe()

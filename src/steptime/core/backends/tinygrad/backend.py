"""tinygrad: the graph becomes one expression of its lazy tensors; a step is captured by TinyJit and then replayed."""

from __future__ import annotations

import os
from importlib import metadata
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.channels_first import to_channels_first, to_channels_last
from steptime.core.backends.peak import best_rate
from steptime.core.backends.precision import DTYPES
from steptime.core.backends.tinygrad.compiler import compiler_version, find_compiler
from steptime.core.backends.tinygrad.layers import TABLE, Pass, changes_of
from steptime.core.backends.translate import Link, walk
from steptime.core.models.graph import Graph, Node
from steptime.core.reference.optimizers import momentum_of
from steptime.core.schema import Case, Phase, Precision

COMPILE_MODES = ("jit", "eager")


class TinygradProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        from tinygrad import Context, Device, Tensor, TinyJit, dtypes
        from tinygrad.helpers import DEFAULT_FLOAT

        self._case, self._graph, self._device, self._context = case, graph, Device[Device.DEFAULT], Context
        self._loss: Any = None
        self._dtype = getattr(dtypes, DTYPES[case.precision])
        DEFAULT_FLOAT.value = DTYPES[case.precision]
        Tensor.manual_seed(case.seed)
        TABLE.check(graph)
        self._links = {name: self._link(name, array) for name, array in weights.items()}
        self._tensors = {name: link.target for name, link in self._links.items()}
        self._x = self._ordered(inputs).realize()
        self._labels = Tensor(labels.astype(np.int32)).realize() if labels.size else None
        jit = TinyJit if option(BACKEND, case, "compile") == "jit" else _as_it_is
        self._call: Callable[[], Any] = jit(self._train if case.phase == Phase.TRAINING else self._infer)
        if case.phase == Phase.TRAINING:
            self._optimizer = self._make_optimizer()
            self.step = self._training_step  # type: ignore[method-assign]
        else:
            self.step = self._inference_step  # type: ignore[method-assign]

    def _ordered(self, inputs: Array) -> Any:
        from tinygrad import Tensor

        if self._graph.input_op.kind == "int":
            return Tensor(inputs.astype(np.int32))
        return Tensor(np.ascontiguousarray(to_channels_first(inputs)), dtype=self._dtype)

    def feed(self, inputs: Array, labels: Array) -> None:
        """Into the buffers that are there: the captured step reads those."""
        from tinygrad import Tensor

        fresh = [self._x.assign(self._ordered(inputs))]
        if self._labels is not None:
            fresh.append(self._labels.assign(Tensor(labels.astype(np.int32))))
        Tensor.realize(*fresh)

    def _link(self, name: str, array: Array) -> Link:
        from tinygrad import Tensor

        node, _, own = name.rpartition("/")
        to_framework, to_graph = changes_of(self._graph.by_name[node].op, own)
        tensor = Tensor(np.ascontiguousarray(to_framework(array)), dtype=self._dtype).contiguous().realize()
        return Link(tensor.is_param_(self._graph.parameters[name].trainable), to_framework, to_graph)

    def _forward(self, training: bool) -> tuple[Any, dict[str, Any]]:
        """Outputs, and the running statistics after this pass."""
        run, statistics = Pass(training, self._dtype), {}

        def layer(node: Node, inputs: list[Any]) -> Any:
            own = {own: self._tensors[name] for own, name in self._graph.array_names(node).items()}
            run.updates = {}
            output = TABLE[type(node.op)](node.op, own, inputs, run)
            statistics.update({f"{node.name}/{name}": value for name, value in run.updates.items()})
            return output

        return walk(self._graph, self._x, layer), statistics

    def _infer(self) -> Any:
        return self._forward(training=False)[0].realize()

    def _train(self) -> Any:
        """The loss; all that the step changes is realised with it, as one schedule."""
        from tinygrad import Tensor

        with self._context(TRAINING=1):
            for tensor in self._tensors.values():
                tensor.grad = None
            outputs, statistics = self._forward(training=True)
            loss = self._loss_of(outputs).backward()
            kept = [self._tensors[name].assign(value.detach()) for name, value in statistics.items()]
            updates = (
                self._optimizer.schedule_step() if self._optimizer else [t.grad for t in self._tensors.values() if t.is_param]
            )
            Tensor.realize(loss, *updates, *kept)
            return loss

    def _loss_of(self, outputs: Any) -> Any:
        if self._graph.loss == "l2":
            return outputs.square().sum() * 0.5
        return outputs.reshape(-1, outputs.shape[-1]).sparse_categorical_crossentropy(self._labels.flatten())  # type: ignore[union-attr]

    def _make_optimizer(self) -> Any:
        from tinygrad.nn import optim

        trained = [t for t in self._tensors.values() if t.is_param]
        if self._case.optimizer == "none":
            return None
        if self._case.optimizer == "adam":
            return optim.Adam(trained, self._case.learning_rate)
        return optim.SGD(trained, self._case.learning_rate, momentum_of(self._case.optimizer))

    def _training_step(self) -> None:
        self._loss = self._call()

    def _inference_step(self) -> None:
        self._call()

    def wait(self) -> None:
        self._device.synchronize()

    def loss(self) -> Optional[float]:
        return None if self._loss is None else float(self._loss.item())

    def outputs(self) -> Array:
        with self._context(TRAINING=0):
            y: Array = self._forward(training=False)[0].numpy().astype(np.float64)
        return to_channels_last(y)

    def weights(self) -> dict[str, Array]:
        return {name: link.to_graph(link.target.numpy().astype(np.float64)) for name, link in self._links.items()}


def _as_it_is(function: Callable[[], Any]) -> Callable[[], Any]:
    return function


class Tinygrad(Backend):
    name = "tinygrad"
    precisions = (Precision.FP64, Precision.FP32)
    options = {"compile": "jit"}
    choices = {"compile": COMPILE_MODES}
    modules = ("tinygrad",)
    preloads = ("tinygrad.nn.optim",)
    environment_name = "tinygrad"
    accepts_batches = True
    variants = ({"compile": "eager"},)
    tolerances = {
        **dict.fromkeys(
            ("outputs", "weights", "outputs_after"),
            (1e-5, "tinygrad's erf, in the exact gelu, is an approximation to seven digits"),
        ),
        "adam": (1e-4, "tinygrad keeps Adam's corrections of the bias in single precision"),
    }
    parity_environment = {"NOOPT": "1", "PARALLEL": "0"}

    def environment(self, case: Case) -> dict[str, str]:
        """Its cache of compiled kernels is not kept between cases: the first step would tell of another run's past."""
        return {**super().environment(case), "DEV": "CPU", "CACHELEVEL": "0"}

    def start(self, case: Case) -> None:
        find_compiler()
        if case.precision == Precision.FP64:
            os.environ["OPTIM_DTYPE"] = "float64"  # of the optimisers' moments
        self.preload()

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return TinygradProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        """Its CPU device runs all kernels on one thread, whatever it is told (0.14)."""
        from tinygrad import Device

        compiler = os.environ["CC"]
        settings = {
            "layout": "NCHW",
            "compile": str(option(self, case, "compile")),
            "device": str(Device.DEFAULT),
            "compiler": compiler_version(compiler),
        }
        return Facts("tinygrad", metadata.version("tinygrad"), 1, case.precision, {"numpy": np.__version__}, settings)

    def peak_flops(self, case: Case) -> float:
        from tinygrad import Device, Tensor, TinyJit, dtypes

        def multiply(size: int) -> Callable[[], None]:
            a = Tensor.ones(size, size, dtype=getattr(dtypes, DTYPES[case.precision])).contiguous().realize()
            product = TinyJit(lambda: a.matmul(a).realize())
            for _ in range(2):  # the first compiles, the second is captured
                product()

            def run() -> None:
                product()

            return run

        return best_rate(multiply, Device[Device.DEFAULT].synchronize, (256, 512))


BACKEND = Tinygrad()

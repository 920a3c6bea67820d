"""PaddlePaddle: the graph becomes a paddle.nn.Layer; it trains in dynamic mode or traced, and infers in Paddle's predictor."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.channels_first import to_channels_first, to_channels_last
from steptime.core.backends.cpu import ONEDNN_CAPS
from steptime.core.backends.paddle.double import cross_entropy
from steptime.core.backends.paddle.layers import assign, build_network
from steptime.core.backends.paddle.predictor import Predictor, openmp_threads
from steptime.core.backends.peak import CPU_SIZES, best_rate
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.reference.optimizers import MOMENTUM
from steptime.core.schema import Case, Phase, Precision

COMPILE_MODES = ("auto", "eager", "static", "predictor")
MKL_CPU_TYPES = {"auto": "", "avx2": "5", "avx512": "7"}
"""Paddle carries an MKL of 2019, which takes its slowest kernels on CPUs of other makers unless told what they have"""


def mode_of(case: Case) -> str:
    """What `auto` comes to: dynamic mode for training; the predictor for inference, but for double precision it has not."""
    mode = option(BACKEND, case, "compile")
    if mode != "auto":
        return str(mode)
    return "predictor" if case.phase == Phase.INFERENCE and case.precision != Precision.FP64 else "eager"


class PaddleProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import paddle

        self._paddle, self._case, self._graph = paddle, case, graph
        self._loss: Any = None
        self._predictor: Optional[Predictor] = None
        paddle.seed(case.seed)
        dtype = "float64" if case.precision == Precision.FP64 else "float32"
        paddle.set_default_dtype(dtype)
        self._network, self._links = build_network(graph, weights, case)
        inputs = self._ordered(inputs)
        self._x, self._labels = paddle.to_tensor(inputs), paddle.to_tensor(labels)
        mode = mode_of(case)
        if case.phase == Phase.TRAINING:
            self._network.train()
            objective = Objective(self._network, graph.loss).layer
            self._objective = paddle.jit.to_static(objective, full_graph=True) if mode == "static" else objective
            self._optimizer = self._make_optimizer()
            self.step = self._train  # type: ignore[method-assign]
            return
        self._network.eval()
        if mode == "predictor":
            self._predictor = Predictor(self._network, inputs, case)
            self.step = self._predictor.run  # type: ignore[method-assign]
        else:
            self._call = paddle.jit.to_static(self._network, full_graph=True) if mode == "static" else self._network
            self.step = self._infer  # type: ignore[method-assign]

    def _ordered(self, inputs: Array) -> Array:
        if self._graph.input_op.kind == "float":
            inputs = inputs.astype(self._paddle.get_default_dtype())
        return np.ascontiguousarray(to_channels_first(inputs))

    def feed(self, inputs: Array, labels: Array) -> None:
        inputs = self._ordered(inputs)
        if self._predictor:
            self._predictor.feed(inputs)
            return
        self._x.set_value(inputs)
        if self._graph.loss != "l2":
            self._labels.set_value(labels)

    def _infer(self) -> None:
        with self._paddle.no_grad():
            self._call(self._x)

    def _train(self) -> None:
        loss = self._objective(self._x, self._labels)
        loss.backward()
        self._optimizer.step()
        self._optimizer.clear_grad(set_to_zero=False)
        self._loss = loss

    def _make_optimizer(self) -> Any:
        optimizers, case = self._paddle.optimizer, self._case
        trained = [p for p in self._network.parameters() if not p.stop_gradient]
        if case.optimizer == "none":
            return NoUpdate(trained)
        if case.optimizer == "adam":
            return optimizers.Adam(case.learning_rate, parameters=trained)
        if case.optimizer == "momentum":
            return optimizers.Momentum(case.learning_rate, MOMENTUM, parameters=trained)
        return optimizers.SGD(case.learning_rate, parameters=trained)

    def loss(self) -> Optional[float]:
        return None if self._loss is None else float(self._loss)

    def outputs(self) -> Array:
        y = self._predictor.outputs() if self._predictor else self._dynamic_outputs()
        return to_channels_last(y)

    def _dynamic_outputs(self) -> Array:
        """In inference mode, with the running variances as they are to be read."""
        training = self._network.training
        kept = {}
        for name, array in self.weights().items():
            if training and name.endswith("/variance") and not self._graph.parameters[name].trainable:
                tensor = self._tensor(name)
                kept[name] = tensor.clone()
                assign(tensor, array)
        self._network.eval()
        with self._paddle.no_grad():
            y: Array = self._network(self._x).astype("float64").numpy()
        for name, value in kept.items():
            self._tensor(name).set_value(value)
        if training:
            self._network.train()
        return y

    def _tensor(self, name: str) -> Any:
        return getattr(*self._links[name].target)

    def weights(self) -> dict[str, Array]:
        return {name: link.to_graph(self._tensor(name).astype("float64").numpy()) for name, link in self._links.items()}

    def product_types(self) -> str:
        """Of the convolutions and matrix products that really ran."""
        return self._predictor.product_types if self._predictor else str(self._paddle.get_default_dtype())


class Objective:
    """`layer` computes the loss of a batch: a layer of its own, so that it can be traced whole."""

    def __init__(self, network: Any, kind: str) -> None:
        import paddle

        entropy = cross_entropy if paddle.get_default_dtype() == "float64" else paddle.nn.functional.cross_entropy

        class Loss(paddle.nn.Layer):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.network = network

            @paddle.jit.not_to_static  # type: ignore[untyped-decorator]
            def compute(self, x: Any, labels: Any) -> Any:
                outputs = self.network(x)
                if kind == "l2":
                    return 0.5 * (outputs * outputs).sum()
                return entropy(outputs, labels)

            def forward(self, x: Any, labels: Any) -> Any:
                return self.compute(x, labels)

        self.layer = Loss()


class NoUpdate:
    """Forward and backward only: gradients are made and dropped."""

    def __init__(self, parameters: list[Any]) -> None:
        self._parameters = parameters

    def step(self) -> None:
        pass

    def clear_grad(self, set_to_zero: bool = False) -> None:
        for parameter in self._parameters:
            parameter.clear_gradient(set_to_zero)


class Paddle(Backend):
    name = "paddle"
    precisions = (Precision.FP64, Precision.FP32, Precision.BF16)
    options = {"compile": "auto", "mkl": "auto"}
    choices = {"compile": COMPILE_MODES, "mkl": MKL_CPU_TYPES}
    modules = ("paddle",)
    preloads = ("paddle.inference",)
    probe_options = ("compile", "mkl")
    variants = ({"compile": "eager"}, {"compile": "static"})
    tolerances = dict.fromkeys(
        ("weights", "statistics", "outputs_after"),
        (1e-4, "the gradient of Paddle's average pool divides in single precision, which inception's second step amplifies"),
    )
    environment_name = "paddle"
    accepts_batches = True
    instruction_caps = ONEDNN_CAPS
    _program: Optional[PaddleProgram] = None

    def environment(self, case: Case) -> dict[str, str]:
        variables = {**super().environment(case), "GLOG_minloglevel": "2"}
        cpu_type = MKL_CPU_TYPES.get(str(option(self, case, "mkl")), "")
        return {**variables, "MKL_DEBUG_CPU_TYPE": cpu_type} if cpu_type else variables

    def start(self, case: Case) -> None:
        import paddle

        paddle.set_device("cpu")
        paddle.base.core.set_num_threads(case.threads)

    def check(self, case: Case) -> None:
        super().check(case)
        mode = mode_of(case)
        if mode == "predictor" and case.phase == Phase.TRAINING:
            raise Unsupported("paddle's predictor does not train; compile=eager or compile=static do")
        if mode == "predictor" and case.precision == Precision.FP64:
            raise Unsupported("paddle's predictor has no double precision; compile=eager or compile=static have")
        if case.precision == Precision.BF16 and mode != "predictor":
            raise Unsupported(
                "paddle on CPUs has bf16 in its predictor only (inference):"
                " its automatic mixed precision silently leaves everything in fp32 there"
            )

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        self._program = PaddleProgram(graph, case, weights, inputs, labels)
        return self._program

    def facts(self, case: Case) -> Facts:
        import paddle

        settings = {"layout": "NCHW", "compile": mode_of(case), "mkl": str(option(self, case, "mkl"))}
        if self._program is not None:
            settings["products"] = self._program.product_types()
        return Facts("paddle", paddle.__version__, openmp_threads(), case.precision, {"numpy": np.__version__}, settings)

    def peak_flops(self, case: Case) -> float:
        """Of MKL in dynamic mode and of oneDNN in the predictor: their kernels may differ several times over."""
        best = 0.0 if case.precision == Precision.BF16 else best_rate(partial(mkl_product, case), lambda: None, CPU_SIZES)
        if case.precision == Precision.FP64:
            return best
        return max(best, best_rate(partial(onednn_product, case), lambda: None, CPU_SIZES))


def mkl_product(case: Case, size: int) -> Callable[[], None]:
    import paddle

    a = paddle.ones((size, size), "float64" if case.precision == Precision.FP64 else "float32")

    def run() -> None:
        paddle.matmul(a, a)

    return run


def onednn_product(case: Case, size: int) -> Callable[[], None]:
    import paddle

    paddle.set_default_dtype("float32")
    return Predictor(paddle.nn.Linear(size, size, bias_attr=False), np.ones((size, size), np.float32), case).run


BACKEND = Paddle()

"""MXNet: the graph becomes a Gluon block, hybridized with static memory; a step is record, backward and Trainer.step."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.channels_first import to_channels_first, to_channels_last
from steptime.core.backends.cpu import ONEDNN_SETS
from steptime.core.backends.mxnet.layers import build_block
from steptime.core.backends.mxnet.training import optimizer_of, with_loss
from steptime.core.backends.peak import LARGE_CPU_SIZES, best_rate
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.models.ops import BatchNorm
from steptime.core.schema import Case, Phase, Precision

COMPILE_MODES = ("hybrid", "eager")
PRODUCTS = ("Convolution", "FullyConnected", "batch_dot")
NAMES = {Precision.FP64: "float64", Precision.FP32: "float32", Precision.BF16: "float32"}
"""of parameters and inputs; in bf16 MXNet's mixed precision casts around the products"""


def context_of(case: Case) -> Any:
    import mxnet as mx

    return mx.gpu(0) if case.device == "cuda" else mx.cpu()


class MXNetProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import mxnet as mx

        self._mx, self._case = mx, case
        self._losses: Any = None
        context, dtype = context_of(case), NAMES[case.precision]
        mx.random.seed(case.seed)
        self._net, self._links = build_block(graph, case.batch, case.precision == Precision.FP64)
        self._net.initialize(mx.init.Zero(), ctx=context)
        self._net.cast(dtype)
        self._corrections = corrections(graph, case)
        self._load(weights)
        self._x = mx.nd.array(to_channels_first(inputs), ctx=context, dtype="int32" if graph.input_op.kind == "int" else dtype)
        self._labels = [mx.nd.array(labels, ctx=context, dtype="int32")] if graph.loss != "l2" else []
        self._per_update = case.batch if graph.loss != "l2" else 1
        self._block = with_loss(self._net, graph)
        if option(BACKEND, case, "compile") == "hybrid":
            self._block.hybridize(static_alloc=True, static_shape=True)
        if case.precision == Precision.BF16:
            self._narrow(context)
            self._load(weights)  # running statistics have changed
        if case.phase == Phase.TRAINING:
            self._trainer = self._make_trainer()
            self.step = self._train if case.optimizer != "none" else self._differentiate  # type: ignore[method-assign]
        else:
            self.step = self._infer  # type: ignore[method-assign]

    def _make_trainer(self) -> Any:
        case = self._case
        optimizer = optimizer_of(case.optimizer, case.learning_rate)
        return self._mx.gluon.Trainer(self._net.collect_params(), optimizer, kvstore=None)

    def _load(self, weights: Weights) -> None:
        for name, link in self._links.items():
            array = np.ascontiguousarray(link.to_framework(weights[name])) / self._corrections.get(name, 1.0)
            link.target.set_data(self._mx.nd.array(array, dtype=NAMES[self._case.precision]))

    def _narrow(self, context: Any) -> None:
        """Products in bf16: in training by the casts that amp.init put around them, in inference by a converted block."""
        from mxnet.contrib import amp

        try:
            if self._case.phase == Phase.TRAINING:
                self._differentiate()
            else:
                self._net(self._x)  # which traces it
                self._net = amp.convert_hybrid_block(self._net, "bfloat16", ctx=context, cast_optional_params=True)
                self._net.hybridize(static_alloc=True, static_shape=True)
                self._net(self._x)
            self.wait()
        except self._mx.base.MXNetError as problem:
            raise Unsupported(f"mxnet's mixed precision does not support this model: {error_message(problem)}") from None
        self._losses = None

    def feed(self, inputs: Array, labels: Array) -> None:
        """Into the arrays that are there, which the static memory of a hybridized block knows; copied when this returns."""
        self._x[:] = to_channels_first(inputs)
        for array in self._labels:
            array[:] = labels

    def _infer(self) -> None:
        self._net(self._x)

    def _differentiate(self) -> None:
        with self._mx.autograd.record():
            losses = self._block(self._x, *self._labels)
        losses.backward()
        self._losses = losses

    def _train(self) -> None:
        self._differentiate()
        self._trainer.step(self._per_update)

    @property
    def products(self) -> str:
        """The types of matrix products and convolutions in the traced step."""
        graph = (self._block if self._case.phase == Phase.TRAINING else self._net)._cached_graph
        return " ".join(product_types(graph[1], self._x.dtype)) if graph else NAMES[self._case.precision]

    def wait(self) -> None:
        self._mx.nd.waitall()

    def loss(self) -> Optional[float]:
        return None if self._losses is None else float(self._losses.mean().asscalar())

    def outputs(self) -> Array:
        self._scale_statistics(1)
        outputs = self._net(self._x)
        if self._case.precision == Precision.BF16:
            outputs = self._mx.nd.amp_cast(outputs, dtype="float32")
        y: Array = outputs.asnumpy().astype(np.float64)
        self._scale_statistics(-1)
        return to_channels_last(y)

    def _scale_statistics(self, power: int) -> None:
        for name, factor in self._corrections.items():
            parameter = self._links[name].target
            parameter.set_data(parameter.data() * factor**power)

    def weights(self) -> dict[str, Array]:
        return {
            name: link.to_graph(link.target.data().asnumpy().astype(np.float64)) * self._corrections.get(name, 1.0)
            for name, link in self._links.items()
        }


def error_message(problem: Exception) -> str:
    """MXNet's own message, without its stack."""
    lines = [line for line in str(problem).splitlines() if "Error" in line]
    return (lines or [str(problem)])[-1].rpartition("]")[2].strip()[:300]


def product_types(symbol: Any, entry: Any) -> list[str]:
    inner = symbol.get_internals()
    entries = {"data": entry, "data0": entry, "data1": np.int32}
    used = {name: kind for name, kind in entries.items() if name in symbol.list_inputs()}
    types = dict(zip(inner.list_outputs(), inner.infer_type(**used)[1]))
    nodes = json.loads(symbol.tojson())["nodes"]
    products = {types[f"{node['name']}_output"] for node in nodes if node["op"] in PRODUCTS}
    return sorted("bfloat16" if "bfloat16" in str(each) else np.dtype(each).name for each in products)


def corrections(graph: Graph, case: Case) -> dict[str, float]:
    """By what MXNet's running variances must be multiplied to be the unbiased ones.

    MXNet averages the biased variances of batches. Both averages are linear, so that they differ by a constant factor
    from first to last if they do so at the start: training begins with variances divided by it, and no step costs more.
    """
    if case.phase != Phase.TRAINING:
        return {}
    factors = {}
    for node in graph.nodes:
        if isinstance(node.op, BatchNorm):
            count = case.batch * math.prod(node.shape[:-1])
            factors[f"{node.name}/variance"] = count / max(count - 1, 1)
    return factors


class MXNet(Backend):
    name = "mxnet"
    precisions = (Precision.FP64, Precision.FP32, Precision.BF16)
    devices = ("cpu", "cuda")
    options = {"compile": "hybrid"}
    choices = {"compile": COMPILE_MODES}
    modules = preloads = ("mxnet",)
    variants = ({"compile": "eager"},)
    tolerances = dict.fromkeys(
        ("outputs", "weights", "statistics", "outputs_after", "adam"),
        (1e-4, "learning rates, decays, epsilons and statistics are single precision inside MXNet's operators"),
    )
    environment_name = "mxnet"
    accepts_batches = True
    instruction_caps = tuple({"DNNL_MAX_CPU_ISA": isa} for isa in ONEDNN_SETS[1:])
    _program: Optional[MXNetProgram] = None

    def environment(self, case: Case) -> dict[str, str]:
        return {
            **super().environment(case),
            "MXNET_CPU_WORKER_NTHREADS": "1",
            "MXNET_OMP_MAX_THREADS": str(case.threads),
        }

    def start(self, case: Case) -> None:
        import mxnet as mx

        mx.random.seed(case.seed)
        if case.precision == Precision.BF16 and case.phase == Phase.TRAINING:
            from mxnet.contrib import amp

            amp.init("bfloat16")

    def check(self, case: Case) -> None:
        import mxnet as mx

        if case.precision == Precision.FP16 and case.device == "cpu":
            raise Unsupported("mxnet has no matrix product in fp16 on a CPU (FP16 gemm is not implemented there)")
        super().check(case)
        self.require_devices(case, mx.context.num_gpus() if case.device == "cuda" else 0)

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        self._program = MXNetProgram(graph, case, weights, inputs, labels)
        return self._program

    def facts(self, case: Case) -> Facts:
        import mxnet as mx

        enabled = sorted(name for name, feature in mx.runtime.Features().items() if feature.enabled)
        settings = {"compile": str(option(self, case, "compile")), "layout": "NCHW", "features": " ".join(enabled)}
        if self._program:
            settings["products"] = self._program.products
        return Facts("mxnet", mx.__version__, case.threads, case.precision, {"numpy": np.__version__}, settings)

    def peak_flops(self, case: Case) -> float:
        """Of FullyConnected: the product that layers use, and the only one that MXNet has in bf16."""
        import mxnet as mx

        def multiply(size: int) -> Callable[[], None]:
            a = mx.nd.ones((size, size), ctx=context_of(case), dtype=NAMES[case.precision])
            if case.precision == Precision.BF16:
                a = mx.nd.amp_cast(a, dtype=np.dtype([("bfloat16", np.uint16)]))  # MXNet's name of it
            return lambda: mx.nd.FullyConnected(a, a, num_hidden=size, no_bias=True).wait_to_read()

        return best_rate(multiply, mx.nd.waitall, LARGE_CPU_SIZES)


BACKEND = MXNet()

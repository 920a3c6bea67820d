"""PyTorch: the graph becomes a torch.fx module, whose generated code is what a person would have written by hand."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Callable, Optional

import numpy as np

from steptime.backends.base import Array, Backend, Facts, Program, Weights, best_rate, option, thread_variables
from steptime.errors import UnknownName, Unsupported
from steptime.models import ops
from steptime.models.graph import Graph, Node
from steptime.schema import Case

LAYOUTS = ("auto", "channels_last", "contiguous")
COMPILE_MODES = ("", "default", "reduce-overhead", "max-autotune")
INPLACE_SAFE = (ops.Conv2d, ops.BatchNorm, ops.Dense, ops.Add)
"""what may be overwritten by the activation that alone uses it: backward does not need it"""


def dtype_of(precision: str) -> Any:
    import torch

    return {"fp64": torch.float64, "bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)


Arrays = tuple[Any, str, Callable[[Array], Array], Callable[[Array], Array]]


class Layer:
    """A torch module for one node, and how its arrays map to the graph's: name -> (owner, attribute, to torch, back)."""

    def __init__(self, module: Any, arrays: Optional[dict[str, Arrays]] = None) -> None:
        self.module = module
        self.arrays = arrays or {}


def same(array: Array) -> Array:
    return array


def conv2d(op: ops.Conv2d, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    (x,) = shapes
    _, kernel, strides, dilation, pads = op.window(x)
    symmetric = all(a == b for a, b in pads)
    conv = torch.nn.Conv2d(
        x[2], op.filters, kernel, strides, (pads[0][0], pads[1][0]) if symmetric else 0, dilation, op.groups, op.bias
    )
    arrays = {"kernel": (conv, "weight", lambda a: a.transpose(3, 2, 0, 1), lambda a: a.transpose(2, 3, 1, 0))}
    if op.bias:
        arrays["bias"] = (conv, "bias", same, same)
    return Layer(conv if symmetric else torch.nn.Sequential(torch.nn.ZeroPad2d((*pads[1], *pads[0])), conv), arrays)


def pool(op: ops.Pool, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    (x,) = shapes
    _, kernel, strides, _, pads = op.window(x)
    if isinstance(op, ops.MaxPool):
        make: Callable[..., Any] = torch.nn.MaxPool2d
        value = -math.inf
    else:
        assert isinstance(op, ops.AvgPool)
        make, value = torch.nn.AvgPool2d, 0.0
    extra = {"ceil_mode": op.ceil}
    if isinstance(op, ops.AvgPool):
        extra["count_include_pad"] = op.count_padding
    if all(a == b and 2 * a <= k for (a, b), k in zip(pads, kernel)):
        return Layer(make(kernel, strides, (pads[0][0], pads[1][0]), **extra))
    if isinstance(op, ops.AvgPool) and not op.count_padding:
        raise Unsupported("pytorch has no average pooling with uneven padding that is not counted")
    padding = torch.nn.ConstantPad2d((*pads[1], *pads[0]), value)
    return Layer(torch.nn.Sequential(padding, make(kernel, strides, **extra)))


def global_avg_pool(op: ops.GlobalAvgPool, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    return Layer(torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()))


def dense(op: ops.Dense, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    linear = torch.nn.Linear(shapes[0][-1], op.units, op.bias)
    order = hint.row_order
    back = np.argsort(order) if order is not None else None
    arrays = {
        "kernel": (
            linear,
            "weight",
            lambda a: (a if order is None else a[order]).T,
            lambda a: a.T if back is None else a.T[back],
        )
    }
    if op.bias:
        arrays["bias"] = (linear, "bias", same, same)
    return Layer(linear, arrays)


def batch_norm(op: ops.BatchNorm, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    (x,) = shapes
    make = torch.nn.BatchNorm2d if len(x) == 3 else torch.nn.BatchNorm1d
    norm = make(x[-1], op.epsilon, 1 - op.momentum, affine=True)
    arrays: dict[str, Arrays] = {"mean": (norm, "running_mean", same, same), "variance": (norm, "running_var", same, same)}
    for name, attribute, used in (("gamma", "weight", op.scale), ("beta", "bias", op.center)):
        if used:
            arrays[name] = (norm, attribute, same, same)
        else:
            getattr(norm, attribute).requires_grad_(False)
    return Layer(norm, arrays)


def lrn(op: ops.LRN, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    size = 2 * op.radius + 1
    return Layer(torch.nn.LocalResponseNorm(size, op.alpha * size, op.beta, op.bias))


def activation(op: ops.Activation, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    if op.kind == "relu":
        return Layer(torch.nn.ReLU(inplace=hint.inplace))
    return Layer({"tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid}[op.kind]())


def dropout(op: ops.Dropout, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    return Layer(torch.nn.Dropout(op.rate))


def flatten(op: ops.Flatten, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    if len(shapes[0]) == 3 and hint.to_last:
        return Layer(_module(lambda x: x.permute(0, 2, 3, 1).flatten(1)))
    return Layer(torch.nn.Flatten())


def add(op: ops.Add, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    def total(first: Any, second: Any, *rest: Any) -> Any:
        out = first + second
        for x in rest:
            out = out + x
        return out

    return Layer(_module(total))


def concat(op: ops.Concat, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    axis = 1 if len(shapes[0]) == 3 else -1
    return Layer(_module(lambda *xs: torch.cat(xs, axis)))


TABLE: dict[type, Callable[[Any, tuple[ops.Shape, ...], Any], Layer]] = {
    ops.Conv2d: conv2d,
    ops.MaxPool: pool,
    ops.AvgPool: pool,
    ops.GlobalAvgPool: global_avg_pool,
    ops.Dense: dense,
    ops.BatchNorm: batch_norm,
    ops.LRN: lrn,
    ops.Activation: activation,
    ops.Dropout: dropout,
    ops.Flatten: flatten,
    ops.Add: add,
    ops.Concat: concat,
}


def _module(function: Callable[..., Any]) -> Any:
    import torch

    class Function(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *xs: Any) -> Any:
            return function(*xs)

    return Function()


class Hint:
    """What a layer must know of its neighbours."""

    def __init__(self, graph: Graph, node: Node, channels_last: bool, orders: dict[str, Array]) -> None:
        producer = graph.by_name[node.inputs[0]]
        self.inplace = isinstance(producer.op, INPLACE_SAFE) and len(graph.consumers[producer.name]) == 1
        self.row_order = orders.get(node.inputs[0])
        self.to_last = channels_last or node.name not in orders


def row_orders(graph: Graph) -> dict[str, Array]:
    """For nodes whose values a contiguous (channels first) layout leaves in another order than the graph's: that order.

    A flatten whose values only reach dense layers costs nothing: the rows of their weights are reordered instead.
    """
    found: dict[str, Array] = {}
    for node in graph.nodes:
        if isinstance(node.op, ops.Flatten) and len(graph.input_shapes(node)[0]) == 3:
            reached = _reach(graph, node)
            if reached is not None:
                shape = graph.input_shapes(node)[0]
                order = np.arange(math.prod(shape)).reshape(shape).transpose(2, 0, 1).reshape(-1)
                found.update(dict.fromkeys(reached, order))
    return found


def _reach(graph: Graph, node: Node) -> Optional[list[str]]:
    """The nodes from `node` on that keep its order until dense layers end it; None if anything else needs the order."""
    names = [node.name]
    if node.name == graph.output:
        return None
    for user in graph.consumers[node.name]:
        if isinstance(user.op, (ops.Activation, ops.Dropout)):
            further = _reach(graph, user)
            if further is None:
                return None
            names += further
        elif not isinstance(user.op, ops.Dense):
            return None
    return names


def build_module(graph: Graph, weights: Weights, channels_last: bool) -> tuple[Any, dict[str, Arrays]]:
    """The torch module, and for each of the graph's arrays its tensor and the ways there and back."""
    import torch

    orders = {} if channels_last else row_orders(graph)
    root, code = torch.nn.Module(), torch.fx.Graph()
    values = {graph.input.name: code.placeholder("x")}
    arrays = {}
    for node in graph.nodes[1:]:
        make = TABLE.get(type(node.op))
        if make is None:
            raise Unsupported(f"pytorch has no operator {type(node.op).__name__}")
        layer = make(node.op, graph.input_shapes(node), Hint(graph, node, channels_last, orders))
        target = node.name.replace(".", "_")
        root.add_module(target, layer.module)
        values[node.name] = code.call_module(target, tuple(values[i] for i in node.inputs))
        arrays.update({f"{node.name}/{name}": entry for name, entry in layer.arrays.items()})
    code.output(values[graph.output])
    with torch.no_grad():
        for name, (owner, attribute, forth, _) in arrays.items():
            getattr(owner, attribute).copy_(torch.from_numpy(np.ascontiguousarray(forth(weights[name]))))
    return torch.fx.GraphModule(root, code), arrays


class TorchProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import torch

        self._torch, self._case, self._graph = torch, case, graph
        self._loss: Any = None
        image = len(graph.input.shape) == 3
        channels_last = image and use_channels_last(case)
        self._module, self._arrays = build_module(graph, weights, channels_last)
        dtype = dtype_of(case.precision)
        whole = dtype if case.phase == "inference" or case.precision == "fp64" else torch.float32
        layout = {"memory_format": torch.channels_last} if channels_last else {}
        self._module.to(device=case.device, dtype=whole, **layout).train(case.phase == "training")
        x = torch.from_numpy(inputs)
        if image:
            x = x.permute(0, 3, 1, 2)
        if graph.input_op.kind == "float":
            x = x.to(whole)
        self._x = x.to(case.device).contiguous(**layout)
        self._labels = torch.from_numpy(labels).to(case.device)
        mode = option(BACKEND, case, "compile")
        self._call = torch.compile(self._module, mode=mode) if mode else self._module
        mixed = case.phase == "training" and case.precision in ("bf16", "fp16")
        self._autocast: Callable[[], Any] = contextlib.nullcontext
        if mixed:
            self._autocast = lambda: torch.autocast(case.device, dtype)
        self._scaler = torch.amp.GradScaler(case.device, enabled=mixed and case.precision == "fp16")
        if case.phase == "training":
            self._optimizer = self._make_optimizer()
            self.step = self._train if not self._scaler.is_enabled() else self._train_scaled  # type: ignore[method-assign]
        else:
            self.step = self._infer  # type: ignore[method-assign]

    def _infer(self) -> None:
        with self._torch.inference_mode():
            self._call(self._x)

    def _train(self) -> None:
        loss = self._forward()
        loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._loss = loss

    def _train_scaled(self) -> None:
        loss = self._forward()
        self._scaler.scale(loss).backward()
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        self._loss = loss

    def _forward(self) -> Any:
        with self._autocast():
            outputs = self._call(self._x)
            if self._graph.loss == "l2":
                return 0.5 * outputs.float().square().sum() if outputs.dtype.itemsize < 4 else 0.5 * outputs.square().sum()
            return self._torch.nn.functional.cross_entropy(outputs.flatten(0, -2), self._labels.flatten())

    def _make_optimizer(self) -> Any:
        torch, case = self._torch, self._case
        trainable = [p for p in self._module.parameters() if p.requires_grad]
        if case.optimizer == "adam":
            return torch.optim.Adam(trainable, case.learning_rate, fused=True)
        if case.optimizer == "none":
            return NoUpdate(trainable)
        momentum = 0.9 if case.optimizer == "momentum" else 0.0
        return torch.optim.SGD(trainable, case.learning_rate, momentum, fused=True)

    def wait(self) -> None:
        if self._case.device == "cuda":
            self._torch.cuda.synchronize()

    def loss(self) -> Optional[float]:
        return None if self._loss is None else float(self._loss.detach())

    def outputs(self) -> Array:
        was = self._module.training
        self._module.eval()
        with self._torch.inference_mode():
            y = self._module(self._x).double().cpu()
        self._module.train(was)
        if y.ndim == 4:
            y = y.permute(0, 2, 3, 1)
        array: Array = y.numpy()
        return array

    def weights(self) -> dict[str, Array]:
        return {
            name: back(getattr(owner, attribute).detach().double().cpu().numpy())
            for name, (owner, attribute, _, back) in self._arrays.items()
        }

    def device_peak_bytes(self) -> Optional[int]:
        return int(self._torch.cuda.max_memory_allocated()) if self._case.device == "cuda" else None


class NoUpdate:
    """Forward and backward only: gradients are made and dropped."""

    def __init__(self, parameters: list[Any]) -> None:
        self._parameters = parameters

    def step(self) -> None:
        pass

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self._parameters:
            parameter.grad = None


def use_channels_last(case: Case) -> bool:
    layout = option(BACKEND, case, "layout")
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    if layout != "auto":
        return bool(layout == "channels_last")
    return case.device == "cpu" or case.precision in ("bf16", "fp16")


class PyTorch(Backend):
    name = "pytorch"
    precisions = ("fp64", "fp32", "tf32", "bf16", "fp16")
    devices = ("cpu", "cuda")
    options = {"layout": "auto", "compile": ""}
    environment_name = "pytorch"
    instruction_caps = tuple(
        {"ONEDNN_MAX_CPU_ISA": isa} for isa in ("AVX512_CORE_FP16", "AVX512_CORE_BF16", "AVX512_CORE", "AVX2")
    )

    def environment(self, case: Case) -> dict[str, str]:
        return {**thread_variables(case.threads), "TORCHINDUCTOR_COMPILE_THREADS": str(case.threads)}

    def start(self, case: Case) -> None:
        import torch

        torch.set_num_threads(case.threads)
        torch.set_num_interop_threads(1)
        torch.manual_seed(case.seed)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case.precision == "tf32"

    def check(self, case: Case) -> None:
        import torch

        super().check(case)
        mode = option(self, case, "compile")
        if mode not in COMPILE_MODES:
            raise UnknownName("compile mode of pytorch", mode, [m for m in COMPILE_MODES if m])
        if case.device == "cuda" and not torch.cuda.is_available():
            raise Unsupported("this PyTorch sees no CUDA device")
        if case.device == "cpu" and case.precision == "tf32":
            raise Unsupported("tf32 exists on CUDA devices only")

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return TorchProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        import torch

        settings = {
            "layout": "channels_last" if use_channels_last(case) else "contiguous",
            "compile": str(option(self, case, "compile")) or "eager",
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        }
        packages = {"numpy": np.__version__, "cuda": torch.version.cuda or ""}
        if case.device == "cuda":
            packages["device"] = torch.cuda.get_device_name()
        return Facts("pytorch", torch.__version__, torch.get_num_threads(), case.precision, packages, settings)

    def peak_flops(self, case: Case) -> float:
        import torch

        def multiply(size: int) -> Callable[[], None]:
            a = torch.ones((size, size), dtype=dtype_of(case.precision), device=case.device)
            out = torch.empty_like(a)

            def run() -> None:
                torch.mm(a, a, out=out)

            return run

        cuda = case.device == "cuda"
        return best_rate(multiply, torch.cuda.synchronize if cuda else lambda: None, (4096, 8192) if cuda else (1024, 2048, 4096))


BACKEND = PyTorch()

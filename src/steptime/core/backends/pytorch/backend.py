"""PyTorch: the graph becomes a torch.fx module, whose generated code is what a person would have written by hand."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from functools import partial
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, RankInfo, Weights, option
from steptime.core.backends.channels_first import to_channels_last
from steptime.core.backends.cpu import ONEDNN_CAPS, set_torch_threads
from steptime.core.backends.peak import CUDA_SIZES, LARGE_CPU_SIZES, best_rate
from steptime.core.backends.precision import DTYPES, NARROW, is_mixed
from steptime.core.backends.pytorch.layers import build_module
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.reference.optimizers import momentum_of
from steptime.core.schema import Case, Phase, Precision

LAYOUTS = ("auto", "channels_last", "contiguous")
COMPILE_MODES = ("", "default", "reduce-overhead", "max-autotune")


def dtype_of(precision: Precision) -> Any:
    import torch

    return getattr(torch, DTYPES[precision])


class TorchProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import torch

        self._torch, self._case, self._graph = torch, case, graph
        self._loss: Any = None
        torch.manual_seed(case.seed)  # of dropout
        image = len(graph.input.shape) == 3
        channels_last = image and use_channels_last(case)
        self._module, self._links = build_module(graph, weights, channels_last)
        dtype = dtype_of(case.precision)
        whole = dtype if case.phase == Phase.INFERENCE or case.precision == Precision.FP64 else torch.float32
        layout = {"memory_format": torch.channels_last} if channels_last else {}
        self._module.to(device=case.device, dtype=whole, **layout).train(case.phase == Phase.TRAINING)
        x = torch.from_numpy(inputs)
        if image:
            x = x.permute(0, 3, 1, 2)
        if graph.input_op.kind == "float":
            x = x.to(whole)
        self._x = x.to(case.device).contiguous(**layout)
        self._labels = torch.from_numpy(labels).to(case.device)
        if case.data != "synthetic":
            self._x, self._labels = self._x.clone(), self._labels.clone()  # not views of arrays that are filled anew
        mode = option(BACKEND, case, "compile")
        self._call = torch.compile(self._module, mode=mode) if mode else self._module
        if case.replicas > 1 and case.phase == Phase.TRAINING:
            self._call = torch.nn.parallel.DistributedDataParallel(self._module)
        self._autocast: Callable[[], Any] = contextlib.nullcontext
        if is_mixed(case):
            self._autocast = lambda: torch.autocast(case.device, dtype)
        scaled = is_mixed(case) and case.precision == Precision.FP16 and case.optimizer != "none"  # what is dropped may underflow
        self._scaler = torch.amp.GradScaler(case.device, enabled=scaled)
        if case.phase == Phase.TRAINING:
            self._optimizer = self._make_optimizer()
            self.step = self._train if not self._scaler.is_enabled() else self._train_scaled  # type: ignore[method-assign]
        else:
            self.step = self._infer  # type: ignore[method-assign]

    def feed(self, inputs: Array, labels: Array) -> None:
        """Into the tensors that are there: their addresses stay, which captured CUDA graphs rely on."""
        x = self._torch.from_numpy(inputs)
        self._x.copy_(x.permute(0, 3, 1, 2) if x.ndim == 4 else x)
        self._labels.copy_(self._torch.from_numpy(labels))

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
        return torch.optim.SGD(trainable, case.learning_rate, momentum_of(case.optimizer), fused=True)

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
        return to_channels_last(y.numpy())

    def weights(self) -> dict[str, Array]:
        return {name: link.to_graph(getattr(*link.target).detach().double().cpu().numpy()) for name, link in self._links.items()}

    def device_peak_bytes(self) -> Optional[int]:
        return int(self._torch.cuda.max_memory_allocated()) if self._case.device == "cuda" else None

    def device_reserved_bytes(self) -> Optional[int]:
        return int(self._torch.cuda.max_memory_reserved()) if self._case.device == "cuda" else None


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
    if layout != "auto":
        return bool(layout == "channels_last")
    return case.device == "cpu" or case.precision in NARROW


class PyTorch(Backend):
    name = "pytorch"
    precisions = (Precision.FP64, Precision.FP32, Precision.TF32, Precision.BF16, Precision.FP16)
    devices = ("cpu", "cuda")
    options = {"layout": "auto", "compile": "", "cudnn_benchmark": True}
    choices = {"layout": LAYOUTS, "compile": COMPILE_MODES}
    modules = ("torch",)
    preloads = ("torch._dynamo",)  # torch itself, and what the first optimiser would import a second later
    environment_name = "pytorch"
    variants = ({"layout": "contiguous"}, {"compile": "default"})
    accepts_batches = True
    data_parallel = True
    instruction_caps = ONEDNN_CAPS

    def environment(self, case: Case) -> dict[str, str]:
        return {**super().environment(case), "TORCHINDUCTOR_COMPILE_THREADS": str(case.threads)}

    def start(self, case: Case) -> None:
        import torch

        set_torch_threads(case.threads)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case.precision == Precision.TF32
        torch.backends.cudnn.benchmark = case.device == "cuda" and option(self, case, "cudnn_benchmark")

    def check(self, case: Case) -> None:
        import torch

        super().check(case)
        if case.replicas > 1 and option(self, case, "compile"):
            raise Unsupported("pytorch does not support compile together with data parallelism")
        self.require_devices(case, torch.cuda.device_count() if torch.cuda.is_available() else 0)

    def join(self, case: Case, info: RankInfo) -> None:
        """NCCL between GPUs, gloo between CPUs. Each rank draws other numbers for dropout, as one process would."""
        import torch

        if case.device == "cuda":
            torch.cuda.set_device(info.local_rank)
        torch.manual_seed(case.seed + 7919 * info.rank)
        wait = timedelta(seconds=info.timeout_seconds)
        listens = {"is_master": True, "master_listen_fd": info.listener} if info.rank == 0 else {}
        store = torch.distributed.TCPStore(info.address, info.port, info.size, timeout=wait, **listens)
        torch.distributed.init_process_group(
            "nccl" if case.device == "cuda" else "gloo", timeout=wait, world_size=info.size, rank=info.rank, store=store
        )

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return TorchProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        import torch

        settings = {
            "layout": "channels_last" if use_channels_last(case) else "contiguous",
            "compile": str(option(self, case, "compile")) or "eager",
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        }
        if torch.distributed.is_initialized():
            settings["ranks"] = f"{torch.distributed.get_world_size()} by {torch.distributed.get_backend()}"
        packages = {"numpy": np.__version__, "cuda": torch.version.cuda or ""}
        if case.device == "cuda":
            packages["device"] = torch.cuda.get_device_name()
            settings["cudnn_benchmark"] = _on_or_off(torch.backends.cudnn.benchmark)
            settings["tf32"] = _on_or_off(torch.backends.cuda.matmul.allow_tf32)
        return Facts("pytorch", torch.__version__, torch.get_num_threads(), case.precision, packages, settings)

    def peak_flops(self, case: Case) -> float:
        """Of plain and of transposed products: for types that a CPU emulates their kernels differ several times over."""
        import torch

        def multiply(size: int, transposed: bool) -> Callable[[], None]:
            a = torch.ones((size, size), dtype=dtype_of(case.precision), device=case.device)
            b, out = (a.T if transposed else a), torch.empty_like(a)

            def run() -> None:
                torch.mm(a, b, out=out)

            return run

        cuda = case.device == "cuda"
        wait: Callable[[], None] = torch.cuda.synchronize if cuda else lambda: None
        sizes = CUDA_SIZES if cuda else LARGE_CPU_SIZES
        transpositions = (False, True) if case.precision in NARROW else (False,)
        return max(best_rate(partial(multiply, transposed=transposed), wait, sizes) for transposed in transpositions)


def _on_or_off(value: bool) -> str:
    return "on" if value else "off"


BACKEND = PyTorch()

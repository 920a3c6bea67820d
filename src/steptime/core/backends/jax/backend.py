"""JAX: the graph becomes one pure function; a training step is jitted and gets its whole state donated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.cpu import use_first_cpus
from steptime.core.backends.jax.layers import KEPT_WIDE, apply_function
from steptime.core.backends.peak import CPU_SIZES, CUDA_SIZES, best_rate
from steptime.core.backends.precision import DTYPES, NARROW
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.reference.optimizers import ADAM_BETAS, ADAM_EPSILON, MOMENTUM
from steptime.core.schema import Case, Phase, Precision

COMPILE_MODES = ("jit", "eager")
FIRST_SCALE, GROWTH_STEPS = 2.0**16, 2000
"""of the loss in fp16: doubled after so many finite steps, halved after one that is not, as torch's GradScaler does"""


def dtype_of(precision: Precision) -> Any:
    import jax.numpy as jnp

    return getattr(jnp, DTYPES[precision])


class JaxProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import jax

        self._jax = jax
        apply = apply_function(graph, dtype_of(case.precision))
        device = jax.devices()[0]
        arrays = {name: jax.device_put(a.astype(storage(graph, case, name)), device) for name, a in weights.items()}
        self._type = np.int32 if graph.input_op.kind == "int" else dtype_of(case.precision)
        self.feed(inputs, labels)
        jit = jax.jit if option(BACKEND, case, "compile") == "jit" else _as_it_is
        self._infer = jit(lambda arrays, x: apply(arrays, x, False)[0])
        self._state: Any = None
        self._result: Any = None
        if case.phase == Phase.TRAINING:
            # All of it put on the device in the same way: the second step would else be compiled anew.
            self._state = jax.device_put(initial_state(graph, case, arrays), device)
            self._step = jit(train_step(graph, case, apply), donate_argnums=0)
            self.step = self._train  # type: ignore[method-assign]
        else:
            self._arrays = arrays
            self.step = self._forward  # type: ignore[method-assign]

    def feed(self, inputs: Array, labels: Array) -> None:
        """Copies, because on a CPU the device may else use the very array that is filled anew for the next step."""
        device = self._jax.devices()[0]
        self._x = self._jax.device_put(inputs.astype(self._type), device)
        self._labels = self._jax.device_put(labels.astype(np.int32), device)

    def _forward(self) -> None:
        self._result = self._infer(self._arrays, self._x)

    def _train(self) -> None:
        self._state, self._result = self._step(self._state, self._x, self._labels)

    def wait(self) -> None:
        self._jax.block_until_ready((self._result, self._state))

    def loss(self) -> Optional[float]:
        return None if self._state is None or self._result is None else float(self._result)

    def outputs(self) -> Array:
        return np.asarray(self._infer(self._all(), self._x)).astype(np.float64)

    def weights(self) -> dict[str, Array]:
        return {name: np.asarray(array).astype(np.float64) for name, array in self._all().items()}

    def device_peak_bytes(self) -> Optional[int]:
        known = self._jax.devices()[0].memory_stats() or {}
        return known.get("peak_bytes_in_use")

    def device_reserved_bytes(self) -> Optional[int]:
        known = self._jax.devices()[0].memory_stats() or {}
        return known.get("peak_pool_bytes")

    def _all(self) -> dict[str, Any]:
        return self._arrays if self._state is None else {**self._state["params"], **self._state["statistics"]}


def _as_it_is(function: Callable[..., Any], donate_argnums: int = 0) -> Callable[..., Any]:
    return function


def storage(graph: Graph, case: Case, name: str) -> Any:
    """The type an array is kept in: training keeps single precision beside narrow arithmetic, inference does not."""
    wide = isinstance(graph.by_name[name.rpartition("/")[0]].op, KEPT_WIDE)
    kept = case.precision in NARROW and (wide or case.phase == Phase.TRAINING)
    return np.float32 if kept else dtype_of(case.precision)


def initial_state(graph: Graph, case: Case, arrays: Mapping[str, Any]) -> dict[str, Any]:
    import jax.numpy as jnp

    params = {name: arrays[name] for name, p in graph.parameters.items() if p.trainable}
    state: dict[str, Any] = {
        "params": params,
        "statistics": {name: arrays[name] for name, p in graph.parameters.items() if not p.trainable},
        "count": jnp.zeros((), jnp.int32),
    }
    moments = {"sgd": 0, "adam": 2}.get(case.optimizer, 1)
    state["moments"] = [{name: jnp.zeros_like(a) for name, a in params.items()} for _ in range(moments)]
    if case.precision == Precision.FP16:
        state["scale"], state["finite"] = jnp.float32(FIRST_SCALE), jnp.zeros((), jnp.int32)
    return state


def train_step(graph: Graph, case: Case, apply: Callable[..., Any]) -> Callable[..., Any]:
    """(state, batch, labels) to (new state, loss)."""
    import jax

    seed = jax.random.key(case.seed)

    def objective(params: Any, state: Any, x: Any, labels: Any) -> Any:
        outputs, statistics = apply({**params, **state["statistics"]}, x, True, jax.random.fold_in(seed, state["count"]))
        loss = loss_of(graph.loss, outputs, labels)
        return loss * state.get("scale", 1), (loss, statistics)

    def step(state: Any, x: Any, labels: Any) -> Any:
        gradients, (loss, statistics) = jax.grad(objective, has_aux=True)(state["params"], state, x, labels)
        if "scale" in state:
            gradients = {name: g / state["scale"] for name, g in gradients.items()}
        new = {**state, "statistics": statistics, "count": state["count"] + 1}
        new["params"], new["moments"] = update(case, state, gradients, new["count"])
        return (guarded(state, new, gradients) if "scale" in state else new), loss

    return step


def loss_of(kind: str, outputs: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    outputs = outputs.astype(jnp.promote_types(outputs.dtype, jnp.float32))
    if kind == "l2":
        return 0.5 * jnp.square(outputs).sum()
    truth = jnp.take_along_axis(outputs, labels[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(outputs, -1) - truth).mean()


def update(case: Case, state: Any, gradients: Any, count: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Parameters and moments after one step of the optimiser."""
    import jax.numpy as jnp

    params, moments, rate = state["params"], state["moments"], case.learning_rate
    if case.optimizer == "none":
        return params, [gradients]  # a result, because XLA does not compute what nobody gets
    if case.optimizer == "sgd":
        return {name: p - rate * gradients[name] for name, p in params.items()}, moments
    if case.optimizer == "momentum":
        first = {name: MOMENTUM * m + gradients[name] for name, m in moments[0].items()}
        return {name: p - rate * first[name] for name, p in params.items()}, [first]
    slow, fast = ADAM_BETAS
    first = {name: slow * m + (1 - slow) * gradients[name] for name, m in moments[0].items()}
    second = {name: fast * m + (1 - fast) * jnp.square(gradients[name]) for name, m in moments[1].items()}
    steps = count.astype(next(iter(params.values())).dtype)

    def updated(name: str, parameter: Any) -> Any:
        size = jnp.sqrt(second[name] / (1 - fast**steps)) + ADAM_EPSILON
        return parameter - rate * (first[name] / (1 - slow**steps)) / size

    return {name: updated(name, parameter) for name, parameter in params.items()}, [first, second]


def guarded(old: Any, new: Any, gradients: Any) -> Any:
    """In fp16: a step whose gradients overflowed changes nothing but the scale of the loss."""
    import jax
    import jax.numpy as jnp

    fine = jnp.all(jnp.asarray([jnp.isfinite(g).all() for g in gradients.values()]))
    finite = jnp.where(fine, old["finite"] + 1, 0)
    grown = jnp.where(finite == GROWTH_STEPS, 2 * old["scale"], old["scale"])
    chosen: dict[str, Any] = jax.tree.map(lambda a, b: jnp.where(fine, a, b), new, old)
    chosen["count"], chosen["statistics"] = new["count"], new["statistics"]
    chosen["scale"] = jnp.where(fine, grown, old["scale"] / 2)
    chosen["finite"] = jnp.where(finite == GROWTH_STEPS, 0, finite)
    return chosen


def pool_threads() -> int:
    """Of XLA's pool for arithmetic, counted by name; 0 if there is none."""
    names = (task / "comm" for task in Path("/proc/self/task").glob("*"))
    return sum("XLAEigen" in name.read_text() for name in names)


class Jax(Backend):
    name = "jax"
    precisions = (Precision.FP64, Precision.FP32, Precision.TF32, Precision.BF16, Precision.FP16)
    devices = ("cpu", "cuda")
    options = {"compile": "jit"}
    choices = {"compile": COMPILE_MODES}
    modules = ("jax",)
    preloads = ("jax.numpy", "jax.scipy.special")  # the latter for the first loss
    variants = ({"compile": "eager"},)
    parity_environment = {"XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"}
    environment_name = "jax"
    accepts_batches = True

    def environment(self, case: Case) -> dict[str, str]:
        return {**super().environment(case), "NPROC": str(case.threads)}

    def start(self, case: Case) -> None:
        """XLA's pool has as many threads as the process may use CPUs when the first device is asked for."""
        use_first_cpus(case.threads)
        import jax

        jax.config.update("jax_platforms", case.device)
        if case.device == "cuda":
            jax.config.update("jax_cuda_visible_devices", "0")  # else it takes three quarters of the memory of all of them
        jax.config.update("jax_enable_x64", case.precision == Precision.FP64)
        matmul = {Precision.FP32: "highest", Precision.TF32: "tensorfloat32"}.get(case.precision)
        jax.config.update("jax_default_matmul_precision", matmul if case.device == "cuda" else None)

    def check(self, case: Case) -> None:
        import jax

        super().check(case)
        try:
            jax.devices()
        except (RuntimeError, AssertionError) as error:  # the latter where the plugin for the device is not installed
            raise Unsupported(f"this JAX sees no {case.device.upper()} device") from error

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return JaxProgram(graph, case, weights, inputs, labels)

    def facts(self, case: Case) -> Facts:
        import jax

        cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        settings = {
            "compile": str(option(self, case, "compile")),
            "layout": "NHWC",
            "affinity": f"set to {','.join(map(str, cpus))}",
            "pool_threads": str(pool_threads()),
            "xla_flags": os.environ.get("XLA_FLAGS", ""),
        }
        packages = {"numpy": np.__version__, "jaxlib": metadata.version("jaxlib"), "device": jax.devices()[0].device_kind}
        threads = min(len(cpus) or case.threads, case.threads)
        return Facts("jax", jax.__version__, threads, case.precision, packages, settings)

    def peak_flops(self, case: Case) -> float:
        import jax
        import jax.numpy as jnp

        product = jax.jit(jnp.matmul)
        last: list[Any] = [None]

        def multiply(size: int) -> Callable[[], None]:
            a = jnp.ones((size, size), dtype_of(case.precision))

            def run() -> None:
                last[0] = product(a, a)

            return run

        sizes = CUDA_SIZES if case.device == "cuda" else CPU_SIZES
        return best_rate(multiply, lambda: jax.block_until_ready(last[0]), sizes)


BACKEND = Jax()

"""Keras 3 with its own training loop, on TensorFlow, JAX or PyTorch: one step is one `train_on_batch` or `predict_on_batch`."""

from __future__ import annotations

import importlib
import os
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.cpu import (
    ONEDNN_CAPS,
    set_tensorflow_threads,
    set_torch_threads,
    tensorflow_variables,
    use_first_cpus,
)
from steptime.core.backends.keras.custom import half_square_sum, optimizer_of
from steptime.core.backends.keras.layers import build_model, variable_of
from steptime.core.backends.peak import LARGE_CPU_SIZES, best_rate
from steptime.core.backends.precision import DTYPES, is_mixed
from steptime.core.errors import UnknownName, Unsupported
from steptime.core.machine.cpus import affinity
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Phase, Precision

ENGINES = ("tensorflow", "jax", "torch")
COMPILE_MODES = ("auto", "graph", "eager", "xla")


def policy_of(case: Case) -> str:
    """Keras' mixed precision for training, the whole model in the narrow type for inference."""
    return ("mixed_" if is_mixed(case) else "") + DTYPES[case.precision]


class KerasProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import keras

        self._keras, self._case, self._graph = keras, case, graph
        self._loss: Optional[float] = None
        keras.utils.set_random_seed(case.seed)
        keras.config.set_floatx("float64" if case.precision == Precision.FP64 else "float32")
        keras.config.set_dtype_policy(policy_of(case))
        self._model, layers = build_model(graph, case.batch)
        self._variables = {
            f"{node.name}/{p.name}": variable_of(layers[node.name], node, p.name) for node in graph.nodes for p in node.parameters
        }
        for name, variable in self._variables.items():
            variable.assign(weights[name].reshape(variable.shape))
        mode = option(BACKEND, case, "compile")
        self._model.compile(
            optimizer_of(case.optimizer, case.learning_rate),
            half_square_sum() if graph.loss == "l2" else keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            jit_compile={"auto": "auto", "xla": True}.get(mode, False),
            run_eagerly=mode == "eager",
        )
        self.feed(inputs, labels)
        self.step = self._train if case.phase == Phase.TRAINING else self._infer  # type: ignore[method-assign]

    def feed(self, inputs: Array, labels: Array) -> None:
        """Copies: an engine may else use the very array that is filled anew for the next step."""
        entry, convert = self._model.inputs[0].dtype, self._keras.ops.convert_to_tensor
        self._x = convert(inputs.astype(DTYPES[Precision.FP64]) if entry == "float64" else inputs.copy(), entry)
        self._y = convert(labels.copy() if len(labels) else np.zeros(self._case.batch, np.float32))

    def _train(self) -> None:
        self._loss = self._model.train_on_batch(self._x, self._y)

    def _infer(self) -> None:
        self._model.predict_on_batch(self._x)

    def loss(self) -> Optional[float]:
        return None if self._loss is None else float(self._loss)

    def outputs(self) -> Array:
        outputs: Array = np.asarray(self._model.predict_on_batch(self._x)).astype(np.float64)
        return outputs

    def weights(self) -> dict[str, Array]:
        shapes = {name: p.shape for name, p in self._graph.parameters.items()}
        to_numpy = self._keras.ops.convert_to_numpy
        return {name: to_numpy(v).astype(np.float64).reshape(shapes[name]) for name, v in self._variables.items()}

    @property
    def compiled(self) -> str:
        """What 'auto' came to."""
        if self._model.run_eagerly:
            return "eager"
        engine = self._keras.backend.backend()
        return "xla" if self._model.jit_compile and engine != "torch" else {"torch": "eager"}.get(engine, "graph")


class Keras(Backend):
    name = "keras"
    precisions = (Precision.FP64, Precision.FP32, Precision.BF16, Precision.FP16)
    options = {"engine": "tensorflow", "compile": "auto"}
    choices = {"compile": COMPILE_MODES}
    modules = ("keras", *ENGINES)
    variants = tuple({"engine": engine, "compile": "auto"} for engine in ENGINES)
    parity_options = {"compile": "graph"}
    tolerances = {
        "outputs": (1e-7, "tf.nn.gelu, which Keras calls, has the constants of single precision"),
        "adam": (1e-4, "Keras rounds Adam's decays to single precision"),
    }
    probe_options = ("engine",)
    environment_name = "keras"
    accepts_batches = True
    instruction_caps = ONEDNN_CAPS
    _program: Optional[KerasProgram] = None

    def environment(self, case: Case) -> dict[str, str]:
        return {
            **super().environment(case),
            **tensorflow_variables(case.threads),
            "KERAS_BACKEND": str(option(self, case, "engine")),
            "JAX_PLATFORMS": "cpu",
        }

    def preload(self) -> None:
        importlib.import_module("tensorflow" if os.environ.get("KERAS_BACKEND") == "tensorflow" else "numpy")
        if os.environ.get("KERAS_BACKEND") != "jax":  # whose thread pool is as large as the CPUs that it may use when imported
            importlib.import_module("keras")

    def start(self, case: Case) -> None:
        engine = option(self, case, "engine")
        if engine not in ENGINES:
            raise UnknownName("engine of keras", engine, ENGINES)
        if engine == "jax":
            use_first_cpus(case.threads)
        if engine == "tensorflow":
            import tensorflow as tf

            set_tensorflow_threads(case.threads)
            tf.config.set_visible_devices([], "GPU")
        if engine == "torch":
            set_torch_threads(case.threads)
        import keras

        if keras.backend.backend() != engine:
            raise Unsupported(f"Keras was started on {keras.backend.backend()}, not on {engine}: KERAS_BACKEND says which")

    def check(self, case: Case) -> None:
        super().check(case)
        engine = option(self, case, "engine")
        if case.precision == Precision.FP64 and engine != "tensorflow":
            raise Unsupported(f"keras promotes double to single precision on {engine}: fp64 runs on its engine tensorflow only")
        if case.phase == Phase.TRAINING and case.optimizer == "none":
            raise Unsupported("keras has no training step without an update")

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        self._program = KerasProgram(graph, case, weights, inputs, labels)
        return self._program

    def facts(self, case: Case) -> Facts:
        import keras

        engine = keras.backend.backend()
        module = importlib.import_module(engine)
        settings = {
            "engine": engine,
            "compile": self._program.compiled if self._program else str(option(self, case, "compile")),
            "layout": keras.config.image_data_format(),
            "policy": policy_of(case),
        }
        packages = {"numpy": np.__version__, engine: str(module.__version__)}
        return Facts("keras", keras.__version__, self._threads(engine), case.precision, packages, settings)

    def _threads(self, engine: str) -> int:
        module: Any = importlib.import_module(engine)
        if engine == "tensorflow":
            return int(module.config.threading.get_intra_op_parallelism_threads())
        return int(module.get_num_threads()) if engine == "torch" else len(affinity())

    def peak_flops(self, case: Case) -> float:
        import keras

        waits: dict[str, Callable[[Any], Any]] = {"jax": lambda y: y.block_until_ready()}
        wait = waits.get(keras.backend.backend(), lambda y: y)

        def multiply(size: int) -> Callable[[], None]:
            a = keras.ops.ones((size, size), DTYPES[case.precision])

            def run() -> None:
                wait(keras.ops.matmul(a, a))

            return run

        return best_rate(multiply, lambda: None, LARGE_CPU_SIZES)


BACKEND = Keras()

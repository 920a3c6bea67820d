"""TensorFlow 2: the graph becomes plain tf.nn operations on variables, traced into one function per step."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.backends.base import Array, Backend, Facts, Program, Weights, option
from steptime.core.backends.cpu import ONEDNN_CAPS, set_tensorflow_threads, tensorflow_variables
from steptime.core.backends.peak import CUDA_SIZES, LARGE_CPU_SIZES, best_rate
from steptime.core.backends.precision import DTYPES, is_mixed
from steptime.core.backends.tensorflow.layer import Layer, Pass, VariablePlace
from steptime.core.backends.tensorflow.layers import TABLE, stored_shape
from steptime.core.backends.tensorflow.training import LossScale, Optimizer, loss_of
from steptime.core.backends.translate import build_layers, walk
from steptime.core.models import ops
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Phase, Precision

COMPILE_MODES = ("graph", "eager", "xla")
PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "MatMul", "BatchMatMulV2", "BatchMatMulV3")


def dtype_of(precision: Precision) -> Any:
    import tensorflow as tf

    return tf.as_dtype(DTYPES[precision])


def device_of(case: Case) -> str:
    return "/GPU:0" if case.device == "cuda" else "/CPU:0"


class TensorFlowProgram(Program):
    def __init__(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> None:
        import tensorflow as tf

        self._tf, self._case, self._graph = tf, case, graph
        self._dtype = dtype_of(case.precision)
        self._loss: Any = None
        self._out: Any = None
        training = case.phase == Phase.TRAINING
        with tf.device(device_of(case)):
            self._count = tf.Variable(0, dtype=tf.int64, trainable=False)
            self._variables = {name: self._variable(name, array) for name, array in weights.items()}
            self._layers: dict[str, Layer] = build_layers(
                graph, TABLE, lambda node, built: VariablePlace(graph, node, case, self._variables, self._dtype)
            )
            self._x = tf.constant(inputs) if graph.input_op.kind == "int" else tf.cast(tf.constant(inputs), self._dtype)
            self._labels = tf.constant(labels)
            if case.data != "synthetic":  # a traced function keeps constants for ever
                self._x, self._labels = tf.Variable(self._x, trainable=False), tf.Variable(self._labels, trainable=False)
            self._trained = [v for v in self._variables.values() if v.trainable]
            if training and case.optimizer != "none":
                self._optimizer = Optimizer(case.optimizer, case.learning_rate, self._trained, self._count)
            self._scale = LossScale() if training and case.precision == Precision.FP16 else None
        mode = option(BACKEND, case, "compile")
        self._call: Callable[[], Any] = self._train if training else self._infer
        self._look: Callable[[], Any] = self._infer
        if mode != "eager":
            self._call = tf.function(self._call, autograph=False, jit_compile=mode == "xla")
            self._look = tf.function(self._infer, autograph=False, jit_compile=mode == "xla") if training else self._call
        self.step = self._training_step if training else self._inference_step  # type: ignore[method-assign]

    def _variable(self, name: str, array: Array) -> Any:
        tf, node = self._tf, self._graph.by_name[name.rpartition("/")[0]]
        parameter = self._graph.parameters[name]
        mixed = self._case.phase == Phase.TRAINING or isinstance(node.op, ops.BatchNorm)
        dtype = tf.float32 if mixed and self._dtype.size < 4 else self._dtype
        shape = stored_shape(node.op, self._graph.input_shapes(node), parameter)
        return tf.Variable(tf.cast(tf.constant(array.reshape(shape)), dtype), trainable=parameter.trainable)

    def _forward(self, training: bool) -> Any:
        run = Pass(training, self._count)
        return walk(self._graph, self._x, lambda node, inputs: self._layers[node.name](run, *inputs))

    def _infer(self) -> Any:
        with self._tf.device(device_of(self._case)):
            return self._forward(training=False)

    def _train(self) -> Any:
        """The loss; without an optimiser also the gradients, which would not be computed if nothing wanted them."""
        tf, scale = self._tf, self._scale
        with tf.device(device_of(self._case)):
            self._count.assign_add(1)
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(self._trained)
                loss = loss_of(self._graph.loss, self._forward(training=True), self._labels)
                aim = scale.scaled(loss) if scale else loss
            gradients = tape.gradient(aim, self._trained)
            if self._case.optimizer == "none":
                return loss, gradients
            if scale:
                scale.apply(self._optimizer, gradients)
            else:
                self._optimizer.apply(gradients)
            return loss, ()

    def feed(self, inputs: Array, labels: Array) -> None:
        self._x.assign(self._tf.cast(inputs, self._x.dtype))
        self._labels.assign(labels)

    def _training_step(self) -> None:
        self._loss, self._out = self._call()

    def _inference_step(self) -> None:
        self._out = self._call()

    def wait(self) -> None:
        """On the CPU a function returns when all of it has run; on a GPU when all of it is queued."""
        if self._case.device == "cuda":
            self._tf.test.experimental.sync_devices()

    def loss(self) -> Optional[float]:
        return None if self._loss is None else float(self._loss)

    def outputs(self) -> Array:
        array: Array = self._tf.cast(self._look(), self._tf.float64).numpy()
        return array

    def weights(self) -> dict[str, Array]:
        shapes = {name: p.shape for name, p in self._graph.parameters.items()}
        return {
            name: self._tf.cast(variable, self._tf.float64).numpy().reshape(shapes[name])
            for name, variable in self._variables.items()
        }

    def product_types(self) -> list[str]:
        """Of the matrix products and convolutions that were traced: what really runs."""
        if option(BACKEND, self._case, "compile") == "eager":
            return [self._dtype.name]
        operations = self._call.get_concrete_function().graph.get_operations()  # type: ignore[attr-defined]
        return sorted({o.outputs[0].dtype.name for o in operations if o.type in PRODUCTS})

    def device_peak_bytes(self) -> Optional[int]:
        if self._case.device != "cuda":
            return None
        return int(self._tf.config.experimental.get_memory_info("GPU:0")["peak"])


class TensorFlow(Backend):
    name = "tensorflow"
    precisions = (Precision.FP64, Precision.FP32, Precision.TF32, Precision.BF16, Precision.FP16)
    devices = ("cpu", "cuda")
    options = {"compile": "graph"}
    choices = {"compile": COMPILE_MODES}
    modules = preloads = ("tensorflow",)
    variants = ({"compile": "eager"}, {"compile": "xla"})
    environment_name = "tensorflow"
    accepts_batches = True
    instruction_caps = ONEDNN_CAPS
    _program: Optional[TensorFlowProgram] = None

    def environment(self, case: Case) -> dict[str, str]:
        return {**super().environment(case), **tensorflow_variables(case.threads)}

    def start(self, case: Case) -> None:
        import tensorflow as tf

        set_tensorflow_threads(case.threads)
        gpus = tf.config.list_physical_devices("GPU")[:1] if case.device == "cuda" else []
        tf.config.set_visible_devices(gpus, "GPU")  # else it takes memory on all of them, and waits for all
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.experimental.enable_tensor_float_32_execution(case.precision == Precision.TF32)

    def check(self, case: Case) -> None:
        import tensorflow as tf

        super().check(case)
        self.require_devices(case, len(tf.config.list_physical_devices("GPU")))

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        self._program = TensorFlowProgram(graph, case, weights, inputs, labels)
        return self._program

    def facts(self, case: Case) -> Facts:
        import tensorflow as tf

        settings = {
            "layout": "NHWC",
            "compile": str(option(self, case, "compile")),
            "onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default"),
            "inter_op_threads": str(tf.config.threading.get_inter_op_parallelism_threads()),
            "variables": "float32" if is_mixed(case) else DTYPES[case.precision],
        }
        if self._program is not None:
            settings["products"] = ", ".join(self._program.product_types())
        packages = {"numpy": np.__version__, "cuda": str(tf.sysconfig.get_build_info().get("cuda_version", ""))}
        if case.device == "cuda":
            gpu = tf.config.list_physical_devices("GPU")[0]
            packages["device"] = str(tf.config.experimental.get_device_details(gpu).get("device_name", ""))
        threads = tf.config.threading.get_intra_op_parallelism_threads()
        return Facts("tensorflow", tf.__version__, threads, case.precision, packages, settings)

    def peak_flops(self, case: Case) -> float:
        import tensorflow as tf

        def multiply(size: int) -> Callable[[], None]:
            with tf.device(device_of(case)):
                a = tf.ones((size, size), dtype_of(case.precision))

            def run() -> None:
                tf.matmul(a, a)

            return run

        cuda = case.device == "cuda"
        wait = tf.test.experimental.sync_devices if cuda else lambda: None
        return best_rate(multiply, wait, CUDA_SIZES if cuda else LARGE_CPU_SIZES)


BACKEND = TensorFlow()

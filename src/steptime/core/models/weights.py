"""The initial weights of a graph and the synthetic batch, the same on every machine, numpy and framework.

Values come from raw Philox words, whose stream numpy guarantees, and not from a distribution's method, which it
does not. Each array has a generator of its own, keyed by its name: adding a layer changes no other layer.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from steptime.core.models.graph import Graph
from steptime.core.models.ops import Parameter, Shape

Array = np.ndarray[Any, Any]


def initial_weights(graph: Graph, seed: int) -> dict[str, Array]:
    return {name: _initial(name, p, seed) for name, p in graph.parameters.items()}


def _initial(name: str, parameter: Parameter, seed: int) -> Array:
    if parameter.init in ("zeros", "ones"):
        return np.full(parameter.shape, float(parameter.init == "ones"), np.float32)
    deviation = 0.02 if parameter.init == "small" else math.sqrt(2.0 / parameter.fan_in)
    return uniform(name, seed, parameter.shape) * np.float32(2 * math.sqrt(3) * deviation)


def batch_of(graph: Graph, batch: int, seed: int, rank: int = 0) -> tuple[Array, Array]:
    """Inputs of unit variance (or indices) and labels for every position of the output; labels are empty for l2.

    Those of all ranks, one after another, are the batch of one process with all their samples.
    """
    op = graph.input_op
    shape = (batch, *op.shape)
    if op.kind == "int":
        inputs = indices("input", seed, shape, op.high, rank)
    else:
        inputs = uniform("input", seed, shape, rank) * np.float32(2 * math.sqrt(3))
    if graph.loss == "l2":
        return inputs, np.zeros(0, np.int64)
    return inputs, indices("labels", seed, (batch, *graph.output_shape[:-1]), graph.output_shape[-1], rank)


def uniform(name: str, seed: int, shape: Shape, part: int = 0) -> Array:
    """float32 in [-0.5, 0.5), from 24 bits each; the part-th array of this shape in the stream."""
    count = math.prod(shape)
    first = part * count
    words = _words(name, seed, (count + 2) // 2, first // 2).view(np.uint32)[first % 2 :][:count]
    values = (words >> np.uint32(8)).astype(np.float32)
    values *= np.float32(2.0**-24)
    values -= np.float32(0.5)
    return values.reshape(shape)


def indices(name: str, seed: int, shape: Shape, high: int, part: int = 0) -> Array:
    words = _words(name, seed, math.prod(shape), part * math.prod(shape))
    return (words % np.uint64(high)).astype(np.int64).reshape(shape)


def _words(name: str, seed: int, count: int, skip: int = 0) -> Array:
    key = (seed & 0xFFFFFFFF) << 32 | zlib.crc32(name.encode())
    generator = np.random.Philox(key=key)
    if skip:
        generator.advance(skip // 4)  # its counter gives four words at a time
    words: Array = generator.random_raw(count + skip % 4)[skip % 4 :]
    return words.astype("<u8", copy=False)

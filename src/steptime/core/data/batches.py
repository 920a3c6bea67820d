"""Samples in batches, epoch after epoch, each epoch in another order.

The order depends on the seed only. With several replicas every one of them knows the whole order and takes its part of each
effective batch, so that all of them together see exactly what one process with the effective batch would.
"""

from __future__ import annotations

import numpy as np

from steptime.core.data.dataset import Samples
from steptime.core.data.files import Array
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph


class Batches:
    """`next()` gives inputs and labels in the same two arrays every time: nothing is allocated while steps are timed."""

    def __init__(self, samples: Samples, graph: Graph, batch: int, seed: int, rank: int = 0, replicas: int = 1) -> None:
        _check_fit(samples, graph, batch * replicas)
        self._images, self._all_labels = samples.images, samples.labels
        self._take = batch * replicas
        self._from, self._batch = rank * batch, batch
        self._random = np.random.RandomState(seed)  # whose stream numpy has promised not to change
        self._order = np.arange(len(samples.images))
        self._at = len(self._order)
        self._raw = np.empty((batch, *samples.images.shape[1:]), samples.images.dtype)
        self._scale = np.float32(1 / 255 if samples.images.dtype.kind == "u" else 1)
        self._inputs = np.empty(self._raw.shape, np.float32)
        self._shaped = self._inputs.reshape(batch, *graph.input.shape)
        self._labels = np.empty(batch, np.int64)
        self._none = np.zeros(0, np.int64)
        self._labelled = graph.loss != "l2"
        self.epochs = 0

    def next(self) -> tuple[Array, Array]:
        """Values from 0 to 1 for bytes, as they are for floats. What is left of an epoch is dropped if it is no whole batch."""
        if self._at + self._take > len(self._order):
            self._random.shuffle(self._order)
            self._at = 0
            self.epochs += 1
        picked = self._order[self._at + self._from : self._at + self._from + self._batch]
        self._at += self._take
        np.take(self._images, picked, 0, self._raw, "clip")  # "raise" would make a copy of the whole batch first
        np.multiply(self._raw, self._scale, self._inputs, casting="same_kind")
        if not self._labelled:
            return self._shaped, self._none
        np.take(self._all_labels, picked, 0, self._labels, "clip")
        return self._shaped, self._labels


def _check_fit(samples: Samples, graph: Graph, effective_batch: int) -> None:
    shape, wanted = samples.image_shape, graph.input.shape
    if graph.input_op.kind != "float" or graph.output_shape[:-1] != () or len(wanted) not in (1, 3):
        raise Unsupported(f"{graph.name} does not take one image and one label per sample; data must be synthetic for it")
    if shape != wanted and (len(wanted) == 3 or int(np.prod(shape)) != wanted[0]):
        raise Unsupported(f"the data have images of {_by(shape)}, and {graph.name} takes {_by(wanted)}; see its options")
    if graph.loss != "l2" and int(samples.labels.max()) >= graph.output_shape[-1]:
        raise Unsupported(
            f"the data have labels up to {int(samples.labels.max())}, and {graph.name} has {graph.output_shape[-1]} classes"
        )
    if effective_batch > len(samples.images):
        raise Unsupported(f"an effective batch of {effective_batch} is more than the {len(samples.images)} images of the data")


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))

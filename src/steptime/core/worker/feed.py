"""Real data in the timed loop: every step first fetches its batch and passes it on, and both are part of its time."""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Iterator
from typing import Optional

from steptime.core.backends.base import Array, Program
from steptime.core.data.batches import Batches
from steptime.core.data.dataset import read_split, split_for, splits_in
from steptime.core.data.places import SYNTHETIC, folder_of, store_folder
from steptime.core.data.staging import staged
from steptime.core.errors import Unsupported
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Staging


class Fed(Program):
    """A program whose step begins with the next batch."""

    def __init__(self, program: Program, batches: Batches) -> None:
        self._program, self._batches = program, batches
        self.clock = program.clock
        self.wait = program.wait  # type: ignore[method-assign]
        self.data_seconds = array("d")

    def step(self) -> None:
        clock = self.clock
        begin = clock()
        self._program.feed(*self._batches.next())
        self.data_seconds.append(clock() - begin)
        self._program.step()

    def loss(self) -> Optional[float]:
        return self._program.loss()

    def outputs(self) -> Array:
        return self._program.outputs()

    def weights(self) -> dict[str, Array]:
        return self._program.weights()

    def device_peak_bytes(self) -> Optional[int]:
        return self._program.device_peak_bytes()

    def device_reserved_bytes(self) -> Optional[int]:
        return self._program.device_reserved_bytes()


class Source:
    """The batches of a case, and where they were staged."""

    def __init__(self, batches: Batches, staging: Staging) -> None:
        self.batches, self.staging = batches, staging


@contextlib.contextmanager
def source_of(graph: Graph, case: Case, rank: int = 0) -> Iterator[Optional[Source]]:
    """The data of a case, staged while the context lasts; None for synthetic data, which are made once."""
    if case.data == SYNTHETIC:
        if case.data_store != "dram":
            raise Unsupported(f"synthetic data are made in memory (dram), not read from {case.data_store}; give --data too")
        yield None
        return
    split = split_for(case.phase, splits_in(folder_of(case.data)))
    with staged(split, case.data_store, store_folder(case.data_store, os.environ)) as (copy, staging):
        yield Source(Batches(read_split(copy), graph, case.batch, case.seed, rank, case.replicas), staging)

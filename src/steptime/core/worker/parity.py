"""Runs a case for its results, not its time: writes outputs, losses and weights to an .npz file."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import numpy as np

from steptime.core.models import zoo
from steptime.core.schema import Job
from steptime.core.worker.feed import source_of
from steptime.core.worker.ranks import Rendezvous, join
from steptime.core.worker.run_case import build_program, started_backend

FILE = "parity.npz"


def write_parity(job: Job, folder: Path, rendezvous: Optional[Rendezvous] = None) -> None:
    """Outputs before training; then the loss of each step, and all weights after the last."""
    case = job.case
    backend = started_backend(case)
    number = join(backend, case, rendezvous)
    graph = zoo.build(case.model, case.model_options).without_dropout()
    with source_of(graph, case, number) as source:
        program = build_program(backend, graph, case, source, number)
        arrays = {"outputs": program.outputs()}
        losses = []
        for _ in range(job.parity_steps):
            program.step()
            program.wait()
            losses.append(program.loss())
    arrays["losses"] = np.array(losses, np.float64)
    arrays.update({f"weights/{name}": array for name, array in program.weights().items()})
    if number == 0:
        np.savez(folder / FILE, **arrays)  # type: ignore[arg-type]  # newer numpy has a flag among the keywords

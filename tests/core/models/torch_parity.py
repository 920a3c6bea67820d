"""Run by an interpreter with PyTorch: how far it is from the reference at the published size, as JSON on the last line."""

from __future__ import annotations

import json
import sys

from steptime.core.backends.base import find
from steptime.core.models import zoo
from steptime.core.parity.compare import distance, program
from steptime.core.schema import Case


def outputs_distance(name: str) -> float:
    """One sample in single precision, the reference's too: its double precision would not fit into a small machine."""
    graph = zoo.build(name, {})
    ours, theirs = (program(graph, Case(name, backend, 1, "inference")).outputs() for backend in ("reference", "pytorch"))
    return distance(ours, theirs)


find("pytorch").start(Case("mlp", "pytorch", 1))
print(json.dumps({name: outputs_distance(name) for name in sys.argv[1:]}))

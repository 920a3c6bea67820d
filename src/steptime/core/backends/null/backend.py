"""Does nothing, very fast: what is left is steptime's own cost."""

from __future__ import annotations

from steptime import __version__
from steptime.core.backends.base import Array, Backend, Facts, Program, Weights
from steptime.core.models.graph import Graph
from steptime.core.schema import PRECISIONS, Case, Verdict


class NullProgram(Program):
    def step(self) -> None:
        pass

    def feed(self, inputs: Array, labels: Array) -> None:
        pass


class Null(Backend):
    name = "null"
    precisions = PRECISIONS
    accepts_batches = True
    is_framework = False
    needs_probe = False

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        return NullProgram()

    def verdict(self, case: Case) -> Verdict:
        return Verdict.UNKNOWN  # nothing is computed that could be disturbed

    def facts(self, case: Case) -> Facts:
        return Facts("null", __version__, case.threads, case.precision)


BACKEND = Null()

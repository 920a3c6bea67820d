"""`python steptime-worker.pyz --parity REQUEST.json`: answers one question about a backend, a JSON line for each family."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from steptime.core.backends.base import find
from steptime.core.errors import SteptimeError, Unsupported
from steptime.core.parity.compare import compare
from steptime.core.parity.dropout import dropout_figures
from steptime.core.parity.families import LEARNING_RATES, OPENED, graph_of, model_of, smoothed
from steptime.core.schema import Case, Option, Phase, Precision, from_json

BATCH, ADAM_RATE, RATE = 3, 1e-3, 0.01
DROPOUT = "dropout"
"""asked for among the families"""


@dataclass(frozen=True)
class Question:
    """steps 0: inference"""

    backend: str
    families: list[str]
    precision: Precision = Precision.FP64
    steps: int = 2
    optimizer: str = "sgd"
    options: dict[str, Option] = field(default_factory=dict)
    threads: int = 1

    def case(self, family: str = "mlp") -> Case:
        return Case(
            model_of(family),
            self.backend,
            BATCH,
            phase=Phase.TRAINING if self.steps else Phase.INFERENCE,
            precision=self.precision,
            optimizer=self.optimizer,
            learning_rate=LEARNING_RATES.get(family, ADAM_RATE if self.optimizer == "adam" else RATE),
            backend_options=self.options,
            threads=self.threads,
        )


def answer(path: Path) -> int:
    question = from_json(Question, path.read_text())
    for family, figures in answers(question):
        print(json.dumps({"family": family, **figures}), flush=True)
    return 0


def figures_of(family: str, question: Question) -> dict[str, float]:
    case, graph = question.case(family), graph_of(family)
    if question.precision == Precision.FP64 or not question.steps or family not in OPENED:
        return compare(graph, case, question.steps)
    trained = compare(smoothed(graph), case, question.steps)
    return {**trained, "outputs": max(trained["outputs"], compare(graph, case, 0)["outputs"])}


def answers(question: Question) -> Iterator[tuple[str, dict[str, Any]]]:
    """A family that the framework cannot do is said to be unsupported, with the reason."""
    find(question.backend).start(question.case())
    for family in question.families:
        try:
            if family == DROPOUT:
                yield family, dropout_figures(replace(question.case(), model=DROPOUT))
            else:
                yield family, figures_of(family, question)
        except Unsupported as reason:
            yield family, {"unsupported": str(reason)}
        except (SteptimeError, ValueError) as problem:
            yield family, {"wrong": str(problem)}

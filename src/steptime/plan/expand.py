"""From a plan to its cases on this machine: the only way to make them.

In order: constants, rows and axes; derived values; overrides; conditions. Whatever depends on a few values only (a formula, a
model's options) is worked out once for each distinct set of them, so that 100,000 cases take about a second.
"""

from __future__ import annotations

import dataclasses
import gc
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from steptime.core.backends.base import find, names
from steptime.core.errors import UsageError
from steptime.core.machine.cpus import usable_threads
from steptime.core.models import zoo
from steptime.core.schema import Case, Phase
from steptime.environments.install import environment
from steptime.plan.case_builder import CaseBuilder
from steptime.plan.expression import Scalar
from steptime.plan.fields import DEFAULTS, INSTALLED
from steptime.plan.formulas import Formulas
from steptime.plan.plan import CaseValues, Plan, Values

MOST_CASES = 1_000_000
Step = Callable[[CaseValues], None]


@dataclass
class Expansion:
    """The cases of a plan, made while they are iterated over, once."""

    plan: Plan
    cores: int = field(default_factory=usable_threads)
    """cores of a node: the default number of threads of its ranks together, and `cores` in formulas"""
    repeated: int = 0
    """cases that were left out because they equal an earlier one"""
    excluded: int = 0
    _seen: set[tuple[Any, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.plan = _resolved(self.plan)
        self._formulas = Formulas(self.plan)
        self._builder = CaseBuilder(self.plan)
        if self.combinations > MOST_CASES:
            raise UsageError(f"{self.plan.name} has {self.combinations:,} combinations; at most {MOST_CASES:,}")

    @property
    def combinations(self) -> int:
        """Before any is excluded."""
        every = math.prod(map(len, self.plan.axes.values())) * self.plan.repeats
        rows = self.plan.rows or [{}]
        return every * sum(math.prod(map(len, {**self.plan.constants, **row}.values())) for row in rows)

    def __iter__(self) -> Iterator[Case]:
        steps = self._steps()
        keep, builder, seen = self._formulas.kept, self._builder, self._seen
        for values in _combinations(self.plan, self.cores):
            for step in steps:
                step(values)
            if not keep(values):
                self.excluded += 1
                continue
            identity = builder.identity(values)
            if identity in seen:
                self.repeated += 1
                continue
            seen.add(identity)
            yield builder.build(values, identity)

    def _steps(self) -> list[Step]:
        """The functions that complete every combination; only those that this plan needs."""
        steps: list[Step] = []
        if self.plan.texts:
            steps.append(self._builder.type_texts)
        steps.append(_fill_defaults)
        if self.plan.derived:
            steps.append(self._formulas.derive)
        if self.plan.overrides:
            steps.append(self._formulas.override)
        return [*steps, _drop_optimizer]


def expanded(expansion: Expansion) -> list[Case]:
    """All cases in the order in which they run. A plan without cases is an error."""
    with _no_collection():
        cases = list(expansion)
    if not cases:
        raise UsageError(f"{expansion.plan.name} has no cases: its conditions exclude them all")
    return cases


@contextmanager
def _no_collection() -> Iterator[None]:
    """Cases hold no reference cycles; searching 100,000 of them for cycles takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _fill_defaults(values: CaseValues) -> None:
    """Fills in what the plan leaves open: the model's batch and learning rate, and each rank's share of its node's cores."""
    if values["threads"] is None:
        values["threads"] = max(1, values["cores"] // max(1, values["devices"]))
    if values["batch"] is None or values["learning_rate"] is None:
        model = zoo.find(values["model"])
        values["batch"] = values["batch"] or model.batch
        values["learning_rate"] = values["learning_rate"] or model.learning_rate


def _drop_optimizer(values: CaseValues) -> None:
    """Inference has no optimizer."""
    if values["phase"] != Phase.TRAINING:
        values["optimizer"] = "none"


def _resolved(plan: Plan) -> Plan:
    """Checks that there is a model, and replaces `installed` by names."""
    if not ("model" in plan.constants or "model" in plan.axes or (plan.rows and all("model" in row for row in plan.rows))):
        raise UsageError(
            f"{plan.name} names no model; give one in [constants], [axes] or every one of [[cases]], or with --model"
        )
    if not any(name in table.get("backend", ()) for table in plan.tables for name in INSTALLED):
        return plan
    return dataclasses.replace(
        plan,
        constants=_with_installed(plan, plan.constants),
        axes=_with_installed(plan, plan.axes),
        rows=[_with_installed(plan, row) for row in plan.rows],
    )


def frameworks_here() -> tuple[list[str], list[str]]:
    """All frameworks, and those that have an environment here."""
    frameworks = [name for name in names() if find(name).environment_name]
    return frameworks, [name for name in frameworks if environment(find(name).environment_name).ready]


def _with_installed(plan: Plan, values: Values) -> Values:
    backends = values.get("backend", ())
    if not any(name in backends for name in INSTALLED):
        return values
    frameworks, ready = frameworks_here()
    if not ready:
        first = find(frameworks[0]).environment_name
        raise plan.problem("backend", f"no framework is installed; run: steptime setup {first}   (or choose one with --backend)")
    chosen = itertools.chain.from_iterable(ready if name in INSTALLED else [name] for name in backends)
    return {**values, "backend": list(dict.fromkeys(chosen))}


def _combinations(plan: Plan, cores: int) -> Iterator[CaseValues]:
    """Interleaved repeats are the outer loop, so that drift of the machine does not hit one case; grouped ones the inner."""
    everywhere: Mapping[str, Scalar | None] = {
        **DEFAULTS,
        "backend": "pytorch",
        "batch": None,
        "learning_rate": None,
        "threads": None,
        "cores": cores,
    }
    repeats = list(range(plan.repeats))
    outer = repeats if plan.order == "interleaved" else [0]
    for repeat in outer:
        for row in plan.rows or [{}]:
            varied: dict[str, Sequence[Any]] = {**plan.constants, **row, **plan.axes}
            varied["repeat"] = [repeat] if plan.order == "interleaved" else repeats
            for values in itertools.product(*varied.values()):
                combination: CaseValues = {**everywhere}
                combination.update(zip(varied, values))
                yield combination

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
from functools import cache, partial
from typing import Any

from steptime.core.backends.base import check_options, find, names
from steptime.core.errors import OptionError, SteptimeError, UsageError
from steptime.core.machine.cpus import usable_threads
from steptime.core.models import zoo
from steptime.core.schema import Budget, Case, Phase, option_value
from steptime.environments.install import environment
from steptime.plan.expression import Scalar
from steptime.plan.fields import DEFAULTS, GROUPS, INSTALLED, check, group_of
from steptime.plan.formulas import Formulas
from steptime.plan.plan import CaseValues, Plan, Values

MOST_CASES = 1_000_000
Step = Callable[[CaseValues], None]
DeviceChoice = Callable[[str, int], str]
"""the device of a case that names none, by its backend and the devices it needs on a node"""


def cpu_only(backend: str, devices: int) -> str:
    return "cpu"


@dataclass
class Expansion:
    """The cases of a plan, made while they are iterated over, once."""

    plan: Plan
    cores: int = field(default_factory=usable_threads)
    """cores of a node: the default number of threads of its ranks together, and `cores` in formulas"""
    default_device: DeviceChoice = cpu_only
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
        steps.append(partial(_fill_defaults, most_devices(self.plan), self.default_device))
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


def most_devices(plan: Plan) -> int:
    """On one node, of any case."""
    return max((n for table in plan.tables for n in table.get("devices", ()) if isinstance(n, int)), default=1)


def _fill_defaults(most: int, default_device: DeviceChoice, values: CaseValues) -> None:
    """Fills in what the plan leaves open: device, batch and learning rate of the model, each rank's share of its node's cores.

    The share is the same for all cases of a plan, so that on more devices nothing changes but their number.
    """
    if values["threads"] is None:
        values["threads"] = max(1, values["cores"] // max(most, values["devices"]))
    if values["device"] is None:
        values["device"] = default_device(values["backend"], values["devices"])
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
        "device": None,
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


known_backend = cache(find)
"""find looks into the folder of backends each time"""
SCALARS = tuple(f.name for f in dataclasses.fields(Case) if f.name not in GROUPS)
"""the fields of a case in their order; the groups come after them"""


class CaseBuilder:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        keys = [key for key in plan.keys if group_of(key)]
        self._keys = {group: [key for key in keys if group_of(key) == group] for group in GROUPS}
        self._measured = [*SCALARS, *(key for key in keys if group_of(key) != "labels")]
        self._grouped = ["model", "backend", *keys]
        self._derived = [key for key in plan.derived if group_of(key) != "labels"]
        self._known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._checked: set[tuple[Any, ...]] = set()

    def identity(self, values: CaseValues) -> tuple[Any, ...]:
        """The values that distinguish cases: all but the labels. It begins with SCALARS."""
        return tuple(map(values.get, self._measured))

    def type_texts(self, values: CaseValues) -> None:
        """Converts options from the command line to the type of their default."""
        for key in self._plan.texts:
            group, _, name = key.partition(".")
            options = zoo.find(values["model"]).options if group == "model_options" else known_backend(values["backend"]).options
            values[key] = option_value(values[key], options.get(name))

    def build(self, values: CaseValues, identity: tuple[Any, ...]) -> Case:
        for key in self._derived:
            self._check_derived(key, values[key])
        grouped = tuple(map(values.get, self._grouped))
        groups = self._known.get(grouped) or self._known.setdefault(grouped, self._groups(values))
        return Case(*identity[: len(SCALARS)], *groups)

    def _groups(self, values: CaseValues) -> tuple[Any, ...]:
        """In the order of a case's fields. Cases with equal groups share one object."""
        model, backend = zoo.find(values["model"]), known_backend(values["backend"])
        model_options = _as_floats(self._group("model_options", values), model.options)
        backend_options = _as_floats(self._group("backend_options", values), backend.options)
        self._check_options(model.name, model_options, "model_options", zoo.build)
        self._check_options(backend, backend_options, "backend_options", check_options)
        return model_options, backend_options, Budget(**self._group("budget", values)), self._group("labels", values)

    def _group(self, group: str, values: CaseValues) -> dict[str, Any]:
        return {key.partition(".")[2]: values[key] for key in self._keys[group] if values.get(key) is not None}

    def _check_derived(self, key: str, value: object) -> None:
        if (key, value) in self._checked:
            return
        try:
            check(key, value)
        except UsageError as problem:
            formula = self._plan.derived[key]
            raise UsageError(f'{formula.place}"{formula.text}": {problem}') from None
        self._checked.add((key, value))

    def _check_options(self, owner: Any, options: dict[str, Any], group: str, checked: Callable[..., object]) -> None:
        identity = (group, owner, *options.items())
        if identity in self._checked:
            return
        self._checked.add(identity)
        try:
            checked(owner, options)
        except SteptimeError as problem:
            option = problem.option if isinstance(problem, OptionError) else ""
            raise self._plan.problem(f"{group}.{option}" if option in options else "model", problem) from None


def _as_floats(options: dict[str, Any], defaults: Mapping[str, object]) -> dict[str, Any]:
    """An option with a fraction as default takes 2 as 2.0, so that both ways of writing it make the same case."""
    fractions = {key for key, value in options.items() if type(value) is int and isinstance(defaults.get(key), float)}
    return {key: float(value) if key in fractions else value for key, value in options.items()}

"""The parity suite's pytest plugin: which backends, which families, in which interpreter.

--parity-backend NAME[:OPTION=VALUE,..]   may be repeated; `all` for every framework (default: none)
--parity-families covering|all|NAME,..    covering: few that together have every operator (default)
--parity-python PATH                      an interpreter that has the framework, instead of the backend's own
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from steptime.checks.parity_run import Answers, run_parity
from steptime.core.backends.base import Backend, check_options, find, names
from steptime.core.errors import SetupError, SteptimeError, UnknownName
from steptime.core.parity.answer import Question
from steptime.core.parity.families import FAMILIES, covering
from steptime.core.schema import Option, Phase, Precision, option_value


@dataclass(frozen=True)
class Candidate:
    """A backend with options, to be compared with the reference."""

    backend: Backend
    options: dict[str, Option] = field(default_factory=dict)

    @property
    def name(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.backend.name}:{options}" if options else self.backend.name

    @property
    def widest(self) -> Precision:
        return Precision.FP64 if Precision.FP64 in self.backend.precisions else Precision.FP32

    @property
    def trains(self) -> bool:
        return Phase.TRAINING in self.backend.phases

    def with_options(self, options: dict[str, Option]) -> Candidate:
        return replace(self, options={**self.options, **options})


class ParityFigures(Protocol):
    def __call__(
        self, candidate: Candidate, families: Sequence[str], precision: Precision, steps: int, optimizer: str = "sgd"
    ) -> Answers: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("steptime", "steptime: does a backend compute what the numpy reference computes?")
    group.addoption("--parity-backend", action="append", default=[], metavar="NAME[:OPTION=VALUE,..]", help="or `all`")
    group.addoption("--parity-families", default="covering", metavar="WHICH", help="covering, all, or names")
    group.addoption("--parity-python", default="", metavar="PATH", help="an interpreter that has the framework")


def pytest_configure(config: pytest.Config) -> None:
    """Checks the options now, so that a mistake is one line and not a failed collection."""
    config.addinivalue_line("markers", "xdist_group(name): families of one question stay together under -n 2 --dist loadgroup")
    try:
        families_of(config.getoption("--parity-families"))
        candidates_of(config.getoption("--parity-backend"))
    except SteptimeError as problem:
        raise pytest.UsageError(str(problem)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "candidate" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--parity-backend") or getattr(metafunc.module, "PARITY_BACKENDS", [])
    candidates = candidates_of(wanted)
    if "parity_variant" in metafunc.fixturenames:
        pairs = [(candidate, variant) for candidate in candidates for variant in candidate.backend.variants]
        names = [candidate.with_options(variant).name for candidate, variant in pairs]
        metafunc.parametrize(("candidate", "parity_variant"), pairs, ids=names)
        return
    test = metafunc.function.__name__
    parameters = [pytest.param(candidate, marks=pytest.mark.xdist_group(f"{candidate.name} {test}")) for candidate in candidates]
    metafunc.parametrize("candidate", parameters, ids=[candidate.name for candidate in candidates])
    if "parity_family" in metafunc.fixturenames:
        metafunc.parametrize("parity_family", families_of(metafunc.config.getoption("--parity-families")))


@pytest.fixture(scope="session")
def parity_families(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """All that are chosen; one question covers all of them."""
    return families_of(pytestconfig.getoption("--parity-families"))


@pytest.fixture(scope="session")
def parity_figures(pytestconfig: pytest.Config) -> ParityFigures:
    """parity_figures(candidate, families, precision, steps, optimizer) -> figures of each family."""
    known: dict[str, Answers] = {}

    def figures(
        candidate: Candidate, families: Sequence[str], precision: Precision, steps: int, optimizer: str = "sgd"
    ) -> Answers:
        question = Question(candidate.backend.name, list(families), precision, steps, optimizer, candidate.options)
        key = repr(question)
        if key not in known:
            known[key] = run_parity(question, python_of(candidate.backend.name, pytestconfig.getoption("--parity-python")))
        return known[key]

    return figures


def python_of(backend: str, chosen: str) -> Path:
    from steptime.environments.choose import interpreter

    try:
        return interpreter(backend, chosen)
    except SetupError as problem:
        pytest.skip(str(problem))


def families_of(text: str) -> tuple[str, ...]:
    if text in ("covering", "all"):
        return covering() if text == "covering" else FAMILIES
    chosen = tuple(text.split(","))
    for name in chosen:
        if name not in FAMILIES:
            raise UnknownName("family", name, FAMILIES)
    return chosen


def candidates_of(wanted: Sequence[str]) -> list[Candidate]:
    every = [name for name in names() if find(name).is_framework]
    return [candidate_of(text) for each in wanted for text in (every if each == "all" else [each])]


def candidate_of(text: str) -> Candidate:
    """'tensorflow:compile=xla'"""
    name, _, rest = text.partition(":")
    backend = find(name)
    pairs = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    options: dict[str, Any] = {key: option_value(value, backend.options.get(key)) for key, value in pairs.items()}
    check_options(backend, options)
    return Candidate(backend, {**backend.parity_options, **options})

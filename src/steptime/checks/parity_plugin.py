"""pytest's side of the proof: which backends, which families, in which interpreter.

--parity-backend NAME[:OPTION=VALUE,..]   may be repeated; `all` for every backend that computes (default: none)
--parity-families covering|all|NAME,..    covering: few that together have every operator (default)
--parity-python PATH                      an interpreter that has the framework, instead of the backend's own
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from steptime.checks.parity_run import Answers, ask
from steptime.core.backends.base import Backend, check_options, find, names
from steptime.core.errors import SetupError, SteptimeError, UnknownName
from steptime.core.parity.answer import Question
from steptime.core.parity.families import FAMILIES, covering
from steptime.core.schema import Option, Phase, Precision, option_value


@dataclass(frozen=True)
class Subject:
    """A backend under proof."""

    backend: Backend
    options: dict[str, Option] = field(default_factory=dict)

    @property
    def name(self) -> str:
        said = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.backend.name}:{said}" if said else self.backend.name

    @property
    def longest(self) -> Precision:
        return Precision.FP64 if Precision.FP64 in self.backend.precisions else Precision.FP32

    @property
    def trains(self) -> bool:
        return Phase.TRAINING in self.backend.phases

    def with_options(self, options: dict[str, Option]) -> Subject:
        return replace(self, options={**self.options, **options})


class Asked(Protocol):
    def __call__(
        self, subject: Subject, families: Sequence[str], precision: Precision, steps: int, optimizer: str = "sgd"
    ) -> Answers: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("steptime", "steptime: is a backend the same as the numpy reference?")
    group.addoption("--parity-backend", action="append", default=[], metavar="NAME[:OPTION=VALUE,..]", help="or `all`")
    group.addoption("--parity-families", default="covering", metavar="WHICH", help="covering, all, or names")
    group.addoption("--parity-python", default="", metavar="PATH", help="an interpreter that has the framework")


def pytest_configure(config: pytest.Config) -> None:
    """What was asked for is understood now, so that a mistake is one line and not a failed collection."""
    config.addinivalue_line("markers", "xdist_group(name): families of one question stay together under -n 2 --dist loadgroup")
    try:
        families_of(config.getoption("--parity-families"))
        subjects_of(config.getoption("--parity-backend"))
    except SteptimeError as problem:
        raise pytest.UsageError(str(problem)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--parity-backend") or getattr(metafunc.module, "PARITY_BACKENDS", [])
    subjects = subjects_of(wanted)
    if "parity_way" in metafunc.fixturenames:
        ways = [(subject, way) for subject in subjects for way in subject.backend.ways]
        metafunc.parametrize(("subject", "parity_way"), ways, ids=[s.with_options(way).name for s, way in ways])
        return
    what = metafunc.function.__name__
    together = [pytest.param(subject, marks=pytest.mark.xdist_group(f"{subject.name} {what}")) for subject in subjects]
    metafunc.parametrize("subject", together, ids=[subject.name for subject in subjects])
    if "parity_family" in metafunc.fixturenames:
        metafunc.parametrize("parity_family", families_of(metafunc.config.getoption("--parity-families")))


@pytest.fixture(scope="session")
def parity_families(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """All that are asked for; a question is put about all of them at once."""
    return families_of(pytestconfig.getoption("--parity-families"))


@pytest.fixture(scope="session")
def asked(pytestconfig: pytest.Config) -> Asked:
    """asked(subject, families, precision, steps, optimizer) -> figures of each family; the same question is put once."""
    known: dict[str, Answers] = {}

    def put(subject: Subject, families: Sequence[str], precision: Precision, steps: int, optimizer: str = "sgd") -> Answers:
        question = Question(subject.backend.name, list(families), precision, steps, optimizer, subject.options)
        key = repr(question)
        if key not in known:
            known[key] = ask(question, python_of(subject.backend.name, pytestconfig.getoption("--parity-python")))
        return known[key]

    return put


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


def subjects_of(wanted: Sequence[str]) -> list[Subject]:
    every = [name for name in names() if find(name).computes]
    return [subject_of(text) for each in wanted for text in (every if each == "all" else [each])]


def subject_of(text: str) -> Subject:
    """'tensorflow:compile=xla'"""
    name, _, rest = text.partition(":")
    backend = find(name)
    pairs = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    options: dict[str, Any] = {key: option_value(value, backend.options.get(key)) for key, value in pairs.items()}
    check_options(backend, options)
    return Subject(backend, {**backend.proof_options, **options})

"""The models by name. One file per family; a model is a decorated function that returns a graph.

Options are the function's keyword arguments: their names, types and defaults are what the user may set.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, Callable

from steptime.core.errors import OptionError, UnknownName
from steptime.core.models.graph import Graph
from steptime.core.schema import Option

Build = Callable[..., Graph]


@dataclass(frozen=True)
class Model:
    name: str
    build: Build
    family: str
    batch: int
    """what `run` uses when no batch is given: moderate enough for a CPU"""
    year: int
    paper: str
    learning_rate: float = 0.01
    """small enough for a finite loss on one synthetic batch: without normalisation that takes less than usual"""

    @property
    def options(self) -> dict[str, Any]:
        return {p.name: p.default for p in inspect.signature(self.build).parameters.values()}


_found: dict[str, Model] = {}


def model(batch: int, year: int, paper: str, name: str = "", learning_rate: float = 0.01) -> Callable[[Build], Build]:
    """Registers a function of the zoo; its file is the family."""

    def register(build: Build) -> Build:
        entry = name or build.__name__
        _found[entry] = Model(entry, build, build.__module__.rpartition(".")[2], batch, year, paper, learning_rate)
        return build

    return register


@cache
def models() -> dict[str, Model]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_found.items()))


def find(name: str) -> Model:
    if name not in models():
        raise UnknownName("model", name, models())
    return models()[name]


def build(name: str, options: dict[str, Option]) -> Graph:
    """The verified graph of a model with options; bad options are one clear line."""
    entry = find(name)
    return entry.build(**checked_options(entry, options))


def checked_options(entry: Model, options: dict[str, Option]) -> dict[str, Option]:
    hints = typing.get_type_hints(entry.build)
    for key, value in options.items():
        if key not in entry.options:
            raise OptionError(key, UnknownName(f"option of model {entry.name}", key, entry.options))
        wanted = hints[key]
        fits = isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)
        if not fits and not (wanted is float and type(value) is int):
            raise OptionError(
                key, f"option {key} of model {entry.name} takes {wanted.__name__} (default {entry.options[key]}), not '{value}'"
            )
    return options


def at_least(low: int, **values: float) -> None:
    """For the models' own checks: `at_least(1, classes=classes)`."""
    for key, value in values.items():
        if value < low:
            raise OptionError(key, f"option {key} must be at least {low}, got {value}")


def positive(**values: float) -> None:
    for key, value in values.items():
        if not value > 0:
            raise OptionError(key, f"option {key} must be more than 0, got {value}")


def multiple_of(factor: int, **values: int) -> None:
    for key, value in values.items():
        if value < 1 or value % factor:
            raise OptionError(key, f"option {key} must be a multiple of {factor}, got {value}")


def one_of(choices: tuple[str, ...], **values: str) -> None:
    for key, value in values.items():
        if value not in choices:
            raise OptionError(key, UnknownName(f"value of option {key}", value, choices))

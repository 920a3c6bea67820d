"""Every key of a case, its type and its valid values. A key of a group has a dot: model_options.layers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steptime.core.backends.base import names as backend_names
from steptime.core.data.places import checked_data, checked_store
from steptime.core.errors import UnknownName, UsageError
from steptime.core.models import zoo
from steptime.core.schema import OPTIMIZERS, PHASES, PRECISIONS, Case, Phase, Precision
from steptime.plan.expression import Scalar

LARGEST_BATCH = 2**31 - 1
INSTALLED = ("installed", "all")
"""as a backend: every framework that has an environment here; of `all`, those that have none are named"""


@dataclass(frozen=True)
class Field:
    kind: type
    choices: Callable[[], Iterable[str]] | None = None
    low: float = 1
    """whole numbers start here; others are above it"""
    high: float = math.inf
    named: Callable[[str], str] = str
    """turns a text into its value; raises UsageError if it is not valid"""

    def check(self, key: str, value: object) -> Scalar:
        """The value as the field's kind."""
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            raise UsageError(f"{key} takes {KINDS[self.kind]}, not {shown(value)}")
        if isinstance(value, str):
            self._check_name(key, value)
            value = self.named(value)
        elif isinstance(value, int) and not self.low <= value <= self.high:
            raise UsageError(f"{key} must be from {self.low} to {self.high}, got {value}")
        elif isinstance(value, float) and not self.low < value < self.high:
            bounds = f"between {self.low:g} and {self.high:g}" if self.high < math.inf else f"above {self.low:g}"
            raise UsageError(f"{key} must be {bounds}, got {value:g}")
        assert isinstance(value, int | float | str)
        return value

    def _check_name(self, key: str, value: str) -> None:
        if self.choices and value not in (known := list(self.choices())):
            raise UnknownName(key, value, known)
        if not value:
            raise UsageError(f"{key} is empty")


KINDS = {int: "a whole number", float: "a number", str: "a name in quotes", bool: "true or false"}
FIELDS: dict[str, Field] = {
    "model": Field(str, zoo.models),
    "backend": Field(str, lambda: [*backend_names(), *INSTALLED]),
    "batch": Field(int, high=LARGEST_BATCH),
    "phase": Field(str, lambda: PHASES, named=Phase),
    "precision": Field(str, lambda: PRECISIONS, named=Precision),
    "device": Field(str),
    "devices": Field(int, high=4096),
    "nodes": Field(int, high=65536),
    "threads": Field(int, high=4096),
    "optimizer": Field(str, lambda: OPTIMIZERS),
    "learning_rate": Field(float, low=0),
    "data": Field(str, named=checked_data),
    "data_store": Field(str, named=checked_store),
    "seed": Field(int, low=0, high=2**31 - 1),
    "budget.target": Field(float, low=0, high=1),
    "budget.min_steps": Field(int, high=10**9),
    "budget.max_steps": Field(int, high=10**9),
    "budget.max_seconds": Field(float, low=0),
    "budget.limit_seconds": Field(float, low=0),
}
OPEN_GROUPS = ("model_options", "backend_options", "labels")
"""their keys are the models', the backends' and the users' own"""
GROUPS = (*OPEN_GROUPS, "budget")
DEFAULTS: dict[str, Scalar] = {
    f.name: f.default for f in dataclasses.fields(Case) if f.default is not dataclasses.MISSING and f.name != "threads"
}


def group_of(key: str) -> str:
    return key.partition(".")[0] if "." in key else ""


def is_key(key: str) -> bool:
    return key in FIELDS or group_of(key) in OPEN_GROUPS


def check(key: str, value: object) -> Scalar:
    """The value that `key` may have, as its kind; UsageError says what would be valid."""
    if key in FIELDS:
        return FIELDS[key].check(key, value)
    if not isinstance(value, int | float | str):
        raise UsageError(f"{key} takes a number, a text, true or false, not {shown(value)}")
    if group_of(key) == "labels":
        return str(value).lower() if isinstance(value, bool) else str(value)
    return value


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Groups opened: {"budget": {"target": 0.1}} to {"budget.target": 0.1}."""
    opened: dict[str, Any] = {}
    for key, value in table.items():
        if not prefix and key in GROUPS and isinstance(value, Mapping):
            opened |= flat(value, key + ".")
        else:
            opened[prefix + key] = value
    return opened


def shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return str(value).lower() if isinstance(value, bool) else f"'{value}'"

"""A plan file, the user's or one that comes with steptime: TOML to a Plan. Every error names file, line and key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steptime.core.errors import UnknownName, UsageError
from steptime.plan.expression import Scalar
from steptime.plan.fields import FIELDS, OPEN_GROUPS, check, flat, group_of, is_key, shown
from steptime.plan.plan import ORDERS, Formula, Override, Plan, checked_repeats, formula
from steptime.plan.toml_file import KeyPath, TomlFile

PRESETS = Path(__file__).parent / "presets"
LARGEST_BYTES = 16 << 20
ALONE = ("description", "repeats", "order", "include", "exclude")
TABLES = ("constants", "axes", "cases", "derived", "override", "budget", "labels")
KEYS = (*ALONE, *TABLES)


def read_plan(path: Path) -> Plan:
    try:
        data = path.read_bytes()[:LARGEST_BYTES]
        text = data.decode()
    except OSError as problem:
        raise UsageError(f"cannot read the plan {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a plan: not UTF-8 text") from None
    return plan_of(text, str(path))


def plan_of(text: str, name: str) -> Plan:
    """`name` is what errors call the file."""
    return _Reader(text, name).plan()


class _Reader(TomlFile):
    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._places: dict[str, str] = {}

    def plan(self) -> Plan:
        for key in self.content:
            if key not in KEYS:
                self.fail((key,), UnknownName("key", key, KEYS))
        derived = self._derived()
        overrides = [self._override(i, entry) for i, entry in enumerate(self._tables("override"))]
        axes = self._values(("axes",), lists=True)
        rows = [self._values(("cases", i), lists=True) for i, _ in enumerate(self._tables("cases"))]
        constants = self._constants()
        self._check_once(constants, axes, rows)
        return Plan(
            name=Path(self._name).stem,
            description=self._plain("description", ""),
            repeats=self._checked(("repeats",), checked_repeats, self.content.get("repeats", 1)),
            order=self._order(),
            constants=constants,
            axes=axes,
            rows=rows,
            derived=derived,
            overrides=overrides,
            include=self._conditions("include"),
            exclude=self._conditions("exclude"),
            places=self._places,
        )

    def _checked(self, path: KeyPath, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except UsageError as problem:
            self.fail(path, problem)

    def _at(self, path: KeyPath) -> Any:
        value: Any = self.content
        for part in path:
            value = value[part]
        return value

    def _plain(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str):
            self.fail((key,), f"takes a text in quotes, not {shown(value)}")
        return value

    def _order(self) -> str:
        order = self._plain("order", ORDERS[0])
        if order not in ORDERS:
            self.fail(("order",), UnknownName("order", order, ORDERS))
        return order

    def _tables(self, key: str) -> list[Mapping[str, Any]]:
        tables = self.content.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(entry, Mapping) for entry in tables):
            self.fail((key,), f"is a list of tables: [[{key}]]")
        return tables

    def _table(self, path: KeyPath) -> dict[str, Any]:
        """Flat, its keys known; empty if it is not there."""
        if len(path) == 1 and path[0] not in self.content:
            return {}
        value = self._at(path)
        if not isinstance(value, Mapping):
            self.fail(path, f"is a table, not {shown(value)}")
        group = str(path[0]) if path[0] in ("budget", "labels") else ""
        table = flat({group: value} if group else value)
        for key in table:
            self._known(path, key, group)
        return table

    def _known(self, path: KeyPath, key: str, group: str) -> None:
        if is_key(key):
            self._places.setdefault(key, self.place(_inside(path, key, group)))
            return
        valid = [k.removeprefix(f"{group}.") for k in FIELDS if k.startswith(group)] if group else [*FIELDS, *OPEN_GROUPS]
        self.fail(_inside(path, key, group), UnknownName("key", key.removeprefix(f"{group}."), valid))

    def _values(self, path: KeyPath, lists: bool) -> dict[str, list[Scalar]]:
        group = str(path[0]) if path[0] in ("budget", "labels") else ""
        checked: dict[str, list[Scalar]] = {}
        for key, value in self._table(path).items():
            where = _inside(path, key, group)
            if isinstance(value, list) and not lists:
                self.fail(where, "one value, not a list: lists are for [axes] and [[cases]]")
            if value == []:
                self.fail(where, "an empty list: there would be no cases")
            if path == ("axes",) and group_of(key) == "labels":
                self.fail(where, "labels are notes and make no new case; put them into [labels], [[cases]] or [[override]]")
            many = value if isinstance(value, list) else [value]
            checked[key] = [self._checked(where, check, key, one) for one in many]
            self._refuse_twice(where, checked[key])
        return checked

    def _refuse_twice(self, where: KeyPath, values: list[Scalar]) -> None:
        seen: set[tuple[type, Scalar]] = set()
        for value in values:
            if (type(value), value) in seen:
                self.fail(where, f"{shown(value)} is given twice; to measure a case several times use: repeats = 2")
            seen.add((type(value), value))

    def _constants(self) -> dict[str, list[Scalar]]:
        constants = self._values(("constants",), lists=False)
        for group in ("budget", "labels"):
            for key, value in self._values((group,), lists=False).items():
                if key in constants:
                    self.fail((group,), f"{key} is in [constants] too; give it once")
                constants[key] = value
        return constants

    def _check_once(self, constants: Mapping[str, Any], axes: Mapping[str, Any], rows: list[dict[str, Any]]) -> None:
        for key in axes:
            if key in constants:
                self.fail(_inside(("axes",), key), f"{key} is in [constants] too; give it once")
            for i, row in enumerate(rows):
                if key in row:
                    self.fail(_inside(("cases", i), key), f"{key} is in [axes] too; give it once")

    def _formula(self, path: KeyPath, value: object) -> Formula:
        if not isinstance(value, str):
            self.fail(path, f"is an expression in quotes, not {shown(value)}")
        return formula(value, self.place(path))

    def _conditions(self, key: str) -> list[Formula]:
        conditions = self.content.get(key, [])
        if not isinstance(conditions, list):
            return [self._formula((key,), conditions)]
        return [self._formula((key, i), text) for i, text in enumerate(conditions)]

    def _derived(self) -> dict[str, Formula]:
        table = self._table(("derived",))
        if "model" in table:
            self.fail(("derived", "model"), "the model cannot be derived: its batch and options depend on it")
        return {key: self._formula(_inside(("derived",), key), text) for key, text in table.items()}

    def _override(self, number: int, entry: Mapping[str, Any]) -> Override:
        path: KeyPath = ("override", number)
        for key in entry:
            if key not in ("when", "set"):
                self.fail((*path, key), UnknownName("key", key, ("when", "set")))
        if "set" not in entry:
            self.fail(path, "`set` is missing: set = { precision = 'bf16' }")
        values = {key: one for key, (one,) in self._values((*path, "set"), lists=False).items()}
        if "model" in values:
            self.fail((*path, "set", "model"), "the model cannot be overridden: its batch and options depend on it")
        when = self._formula((*path, "when"), entry["when"]) if "when" in entry else None
        return Override(when, values)


def _inside(path: KeyPath, key: str, group: str = "") -> KeyPath:
    """The path of a flat key in a table."""
    key = key.removeprefix(f"{group}.") if group else key
    first, dot, rest = key.partition(".")
    return (*path, first, rest) if dot and not group else (*path, key)


def preset_names() -> list[str]:
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def preset_text(name: str) -> str:
    if name not in preset_names():
        raise UnknownName("plan", name, preset_names())
    return (PRESETS / f"{name}.toml").read_text()


def preset_description(name: str) -> str:
    return str(tomllib.loads(preset_text(name)).get("description", ""))


def preset(name: str) -> Plan:
    return plan_of(preset_text(name), f"{name}.toml")

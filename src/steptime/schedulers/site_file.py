"""A site file: TOML to a Site. Every error names file, line and key, and the nearest valid key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NoReturn

from steptime.core.backends.base import names as backend_names
from steptime.core.errors import UnknownName, UsageError
from steptime.plan import locate
from steptime.schedulers.site import GPU_FLAGS, LAUNCHERS, RUNS_ON, Arrays, DeviceType, Framework, Site, Wants

Check = Callable[[Any], Any]
"""The value as it is kept; ValueError says what it takes."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
STORE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TIME = re.compile(r"\d+(:\d\d){0,2}|\d+-\d\d?(:\d\d){0,2}")
MEMORY = re.compile(r"\d+[KMGT]?")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("takes a text in quotes, in one line")
    return value


def _word(value: Any) -> str:
    """What becomes part of an #SBATCH line."""
    if not isinstance(value, str) or not value or re.search(r"[\s'\"\\#]", value) or not value.isprintable():
        raise ValueError("takes a name without spaces and quotes")
    return value


def _matching(pattern: re.Pattern[str], words: str) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"takes {words}")
        return value

    return check


def _one_of(known: tuple[str, ...]) -> Check:
    def check(value: Any) -> str:
        if value not in known:
            raise UnknownName("value", value, known)
        return str(value)

    return check


def _number(low: int) -> Check:
    def check(value: Any) -> int:
        if type(value) is not int or value < low:
            raise ValueError(f"takes a whole number from {low} on")
        return value

    return check


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not value > 0:
        raise ValueError("takes a number of seconds above 0")
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("takes true or false")
    return value


def _list(item: Check) -> Check:
    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError("takes a list: [...]")
        return tuple(item(entry) for entry in value)

    return check


def _option(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value.startswith("-"):
        raise ValueError('takes options of sbatch such as "--constraint=v100", one to an entry')
    return value


def _gres(value: Any) -> str:
    """Empty for a type of CPUs, which has a partition or a constraint and no devices to count."""
    return "" if value == "" else _word(value)


WANTS: dict[str, Check] = {
    "partition": _word,
    "account": _word,
    "qos": _word,
    "time": _matching(TIME, "a time as Slurm writes it: '30', '2:00:00' or '1-12:00:00'"),
    "memory": _matching(MEMORY, "an amount as Slurm writes it: '8G' or '16000M'"),
    "sbatch": _list(_option),
}
ALONE: dict[str, Check] = {
    "description": _text,
    "gpu_flag": _one_of(GPU_FLAGS),
    "launcher": _one_of(LAUNCHERS),
    "launch_single": _truth,
    "login_shell": _truth,
    "cores": _number(1),
    "retries": _number(0),
    "poll_seconds": _seconds,
}
ARRAYS: dict[str, Check] = {"at_least": _number(2), "running": _number(1), "largest": _number(2)}
DEVICE: dict[str, Check] = {**WANTS, "device": _one_of(RUNS_ON), "gres": _gres, "counts": _list(_number(1))}
BACKEND: dict[str, Check] = {"python": _text, "conda": _text, "modules": _list(_word), "lines": _list(_text)}
TABLES = ("defaults", "arrays", "devices", "backends", "directories", "environment")


def site_of(text: str, name: str, path: str) -> Site:
    """`path` is what errors call the file."""
    return _Reader(text, name, path).site()


class _Reader:
    def __init__(self, text: str, name: str, path: str) -> None:
        self._text, self._name, self._path = text, name, path
        self._content = locate.content_of(text, path)

    def site(self) -> Site:
        alone = {key: value for key, value in self._content.items() if key not in TABLES}
        found = self._checked((), alone, ALONE, also=TABLES)
        backends = {name: Framework(**self._table(("backends", name), BACKEND)) for name in self._names("backends")}
        for name in backends:
            if name not in backend_names():
                self._fail(("backends", name), UnknownName("backend", name, backend_names()))
        found.setdefault("login_shell", any(b.modules or b.conda for b in backends.values()))
        wants = Wants(**self._table(("defaults",), WANTS))
        return Site(
            name=self._name,
            path=self._path,
            wants=wants,
            arrays=Arrays(**self._table(("arrays",), ARRAYS)),
            devices={name: self._device(name, wants) for name in dict.fromkeys(["cpu", *self._names("devices")])},
            backends=backends,
            directories=self._texts("directories", STORE, "a letter, then letters, digits, _ and -"),
            environment=self._texts("environment", VARIABLE, "letters, digits and _"),
            **found,
        )

    def _device(self, name: str, wants: Wants) -> DeviceType:
        if not NAME.fullmatch(name):
            self._fail(("devices", name), "a device type is named with letters, digits, _, . and -")
        given = self._table(("devices", name), DEVICE)
        own = {key: given.pop(key) for key in list(given) if key in WANTS}
        own["sbatch"] = (*wants.sbatch, *own.get("sbatch", ()))
        is_cpu = name == "cpu"
        defaults = {"device": "cpu", "gres": ""} if is_cpu else {"gres": "gpu" if name == "cuda" else f"gpu:{name}"}
        return DeviceType(name, Wants(**{**vars(wants), **own}), **{**defaults, **given})

    @cached_property
    def _lines(self) -> dict[locate.Path, int]:
        return locate.lines_of(self._text)

    def _fail(self, path: locate.Path, problem: object) -> NoReturn:
        key = ".".join(map(str, path))
        raise UsageError(f"{self._path}:{locate.line_of(self._lines, path)}: {key}: {problem}") from None

    def _names(self, table: str) -> list[str]:
        found = self._content.get(table, {})
        if not isinstance(found, Mapping):
            self._fail((table,), f"is a table of tables: [{table}.NAME]")
        return list(found)

    def _table(self, path: tuple[str, ...], known: Mapping[str, Check]) -> dict[str, Any]:
        value: Any = self._content
        for part in path:
            value = value.get(part, {})
        if not isinstance(value, Mapping):
            self._fail(path, f"is a table: [{'.'.join(path)}]")
        return self._checked(path, value, known)

    def _checked(
        self, path: tuple[str, ...], table: Mapping[str, Any], known: Mapping[str, Check], also: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        found = {}
        for key, value in table.items():
            if key not in known:
                self._fail((*path, key), UnknownName("key", key, [*known, *also]))
            try:
                found[key] = known[key](value)
            except (ValueError, UsageError) as problem:
                self._fail((*path, key), problem)
        return found

    def _texts(self, table: str, pattern: re.Pattern[str], words: str) -> dict[str, str]:
        value = self._content.get(table, {})
        if not isinstance(value, Mapping):
            self._fail((table,), f"is a table: [{table}]")
        for key in value:
            if not pattern.fullmatch(key):
                self._fail((table, key), f"'{key}' is not a name: {words}")
        return self._checked((table,), value, dict.fromkeys(value, _text))

"""A site file: TOML to a Site. The types in site.py say what each key takes; every error names file, line, key and choices."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from steptime.core.backends.base import names as backend_names
from steptime.core.errors import UnknownName
from steptime.plan.toml_file import TomlFile
from steptime.schedulers.site import Arrays, DeviceType, Framework, Site, Text, Wants

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
STORE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Types = Mapping[str, Any]
"""what each key of a table takes"""


def _types(kind: type, *names: str) -> dict[str, Any]:
    """Of these fields; without names, of all."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in names or hints}


WANTS: Types = _types(Wants)
DEVICE: Types = {**WANTS, **_types(DeviceType, "device", "gres", "counts")}
TABLES = ("defaults", "arrays", "devices", "backends", "directories", "environment")
TOP_LEVEL: Types = _types(
    Site, "description", "scheduler", "gpu_flag", "launcher", "launch_single", "login_shell", "cores", "retries", "poll_seconds"
)


def site_of(text: str, name: str, path: str) -> Site:
    """`path` is what errors call the file."""
    return _Reader(text, path).site(name, path)


class _Reader(TomlFile):
    def site(self, name: str, path: str) -> Site:
        settings = {key: value for key, value in self.content.items() if key not in TABLES}
        values = self._converted((), settings, TOP_LEVEL, also=TABLES)
        backends = {backend: self._framework(backend) for backend in self._names("backends")}
        values.setdefault("login_shell", any(own.modules or own.conda for own in backends.values()))
        wants = Wants(**self._table(("defaults",), WANTS))
        return Site(
            name=name,
            path=path,
            wants=wants,
            arrays=Arrays(**self._table(("arrays",), _types(Arrays))),
            devices={device: self._device(device, wants) for device in dict.fromkeys(["cpu", *self._names("devices")])},
            backends=backends,
            directories=self._texts("directories", STORE, "a letter, then letters, digits, _ and -"),
            environment=self._texts("environment", VARIABLE, "letters, digits and _"),
            **values,
        )

    def _framework(self, backend: str) -> Framework:
        if backend not in backend_names():
            self.fail(("backends", backend), UnknownName("backend", backend, backend_names()))
        return Framework(**self._table(("backends", backend), _types(Framework)))

    def _device(self, name: str, wants: Wants) -> DeviceType:
        if not NAME.fullmatch(name):
            self.fail(("devices", name), "a device type is named with letters, digits, _, . and -")
        values = self._table(("devices", name), DEVICE)
        own = {key: values.pop(key) for key in list(values) if key in WANTS}
        own["sbatch"] = (*wants.sbatch, *own.get("sbatch", ()))
        is_cpu = name == "cpu"
        defaults = {"device": "cpu", "gres": ""} if is_cpu else {"gres": "gpu" if name == "cuda" else f"gpu:{name}"}
        return DeviceType(name, Wants(**{**vars(wants), **own}), **{**defaults, **values})

    def _names(self, table: str) -> list[str]:
        value = self.content.get(table, {})
        if not isinstance(value, Mapping):
            self.fail((table,), f"is a table of tables: [{table}.NAME]")
        return list(value)

    def _texts(self, table: str, pattern: re.Pattern[str], words: str) -> dict[str, str]:
        names = self._names(table)
        for name in names:
            if not pattern.fullmatch(name):
                self.fail((table, name), f"'{name}' is not a name: {words}")
        return self._table((table,), dict.fromkeys(names, Text))

    def _table(self, path: tuple[str, ...], types: Types) -> dict[str, Any]:
        value: Any = self.content
        for part in path:
            value = value.get(part, {})
        if not isinstance(value, Mapping):
            self.fail(path, f"is a table: [{'.'.join(path)}]")
        return self._converted(path, value, types)

    def _converted(
        self, path: tuple[str, ...], table: Mapping[str, Any], types: Types, also: Collection[str] = ()
    ) -> dict[str, Any]:
        values = {}
        for key, value in table.items():
            if key not in types:
                self.fail((*path, key), UnknownName("key", key, [*types, *also]))
            try:
                values[key] = msgspec.convert(value, types[key])
            except msgspec.ValidationError:
                self.fail((*path, key), _problem(types[key], value))
        return values


def _problem(kind: Any, value: Any) -> object:
    """What a key of this type takes instead."""
    if get_origin(kind) is Literal:
        return UnknownName("value", value, get_args(kind))
    if get_origin(kind) is tuple:
        return _problem(get_args(kind)[0], value) if isinstance(value, list) else "takes a list: [...]"
    if kind is bool:
        return "takes true or false"
    return f"takes {kind.__metadata__[0].description}"

"""The pins: one data file per environment, in the folder of the backend that needs it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from steptime.core.errors import UnknownName

PINS = "pins.toml"


@dataclass(frozen=True)
class Debian:
    """Packages of a Debian release, for a framework that exists nowhere else."""

    suite: str
    packages: tuple[str, ...]
    """'name=version'; what they need comes with them"""
    replaced: tuple[str, ...] = ()
    """packages that are not taken, because a newer one from `Pins.packages` is"""


@dataclass(frozen=True)
class Pins:
    name: str
    platform: str
    pythons: tuple[str, ...]
    packages: tuple[str, ...]
    proof: str
    """the module whose import proves the installation"""
    debian: Debian | None = None

    @property
    def wanted(self) -> list[str]:
        return [*(self.debian.packages if self.debian else ()), *self.packages]


def names() -> list[str]:
    folders = resources.files("steptime.core.backends").iterdir()
    return sorted(folder.name for folder in folders if folder.joinpath(PINS).is_file())


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("steptime.core.backends") / name / PINS).read_text())


def pins(name: str, platform: str) -> Pins:
    if name not in names():
        raise UnknownName("environment", name, names())
    content = _read(name)
    platforms = sorted(key for key, value in content.items() if isinstance(value, dict))
    if platform not in platforms:
        raise UnknownName(f"platform of environment {name}", platform, platforms)
    chosen = content[platform]
    release = chosen.get("debian")
    debian = Debian(release["suite"], tuple(release["packages"]), tuple(release["replaced"])) if release else None
    return Pins(name, platform, tuple(content["python"]), tuple(chosen["packages"]), content["proof"], debian)


def pins_here(name: str, platform: str) -> Pins:
    """For the machine's platform, or for its CPUs where there is nothing for its GPU."""
    return pins(name, platform if has_platform(name, platform) else "cpu")


def has_platform(name: str, platform: str) -> bool:
    return platform in _read(name)

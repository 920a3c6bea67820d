"""The pins: one data file per environment, found by its name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

from steptime.errors import UnknownName


@dataclass(frozen=True)
class Pins:
    name: str
    platform: str
    pythons: tuple[str, ...]
    packages: tuple[str, ...]
    proof: str
    """the module whose import proves the installation"""


def names() -> list[str]:
    folder = resources.files("steptime.environments") / "pins"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def pins(name: str, platform: str) -> Pins:
    if name not in names():
        raise UnknownName("environment", name, names())
    text = (resources.files("steptime.environments") / "pins" / f"{name}.toml").read_text()
    content = tomllib.loads(text)
    platforms = sorted(key for key, value in content.items() if isinstance(value, dict))
    if platform not in platforms:
        raise UnknownName(f"platform of environment {name}", platform, platforms)
    return Pins(name, platform, tuple(content["python"]), tuple(content[platform]["packages"]), content["proof"])

"""The plans that come with steptime: one TOML file each in presets/."""

from __future__ import annotations

import tomllib
from pathlib import Path

from steptime.core.errors import UnknownName
from steptime.plan.file import plan_of
from steptime.plan.plan import Plan

FOLDER = Path(__file__).parent / "presets"


def preset_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def preset_text(name: str) -> str:
    if name not in preset_names():
        raise UnknownName("plan", name, preset_names())
    return (FOLDER / f"{name}.toml").read_text()


def preset_description(name: str) -> str:
    return str(tomllib.loads(preset_text(name)).get("description", ""))


def preset(name: str) -> Plan:
    return plan_of(preset_text(name), f"{name}.toml")

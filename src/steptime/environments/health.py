"""Checks whether an environment is as it was installed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from steptime.environments.install import MARKER, Environment

LISTING = (
    "import importlib.metadata as m; print('\\n'.join('{}=={}'.format(d.metadata['Name'], d.version) for d in m.distributions()))"
)


def complaint(env: Environment) -> str:
    """What is wrong with it, in words; empty if nothing."""
    if not env.folder.exists():
        return "is not installed"
    if not (env.folder / MARKER).is_file():
        return "is not finished: its installation was interrupted"
    if not env.python.exists():
        target = os.readlink(env.python) if env.python.is_symlink() else str(env.python)
        return f"is missing its interpreter {target}"
    return _drift(env)


def _drift(env: Environment) -> str:
    """Packages that differ from the lock."""
    done = subprocess.run([env.python, "-c", LISTING], capture_output=True, text=True, timeout=60)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return f"has an interpreter that does not work: {last}"
    there, wanted = _versions(done.stdout.split()), _versions(env.lock)
    changed = [
        f"{name} {there.get(name, 'is missing')}, not {version}" for name, version in wanted.items() if there.get(name) != version
    ]
    return f"has been changed: {'; '.join(changed[:3])}" if changed else ""


def _versions(lines: list[str]) -> dict[str, str]:
    """Of 'name==version' lines; names as pip compares them."""
    pairs = (line.partition("==") for line in lines if "==" in line)
    return {name.lower().replace("_", "-").replace(".", "-"): version for name, _, version in pairs}


def disk_bytes(folder: Path) -> int:
    return sum(entry.lstat().st_blocks * 512 for entry in folder.rglob("*") if not entry.is_symlink())

"""Which interpreter runs a backend."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from steptime.core.backends.base import find
from steptime.core.errors import SetupError, UsageError
from steptime.environments.install import environment


def interpreter(backend: str, chosen: str = "") -> Path:
    """The user's choice, else the backend's own environment, else ours where the backend needs no framework."""
    if chosen:
        return _existing(chosen)
    name = find(backend).environment_name
    if not name:
        return Path(sys.executable)
    env = environment(name)
    if not env.ready:
        state = "is not finished" if env.folder.exists() else "is not installed"
        raise SetupError(f"{backend} {state}; run: steptime setup {name}   (or use an interpreter that has it: --python PATH)")
    return env.python


def _existing(chosen: str) -> Path:
    """A path, a command on PATH, or the folder of a conda or virtual environment."""
    path = Path(chosen).expanduser()
    if path.is_dir():
        path = path / "bin" / "python"
    python = path if path.exists() else Path(shutil.which(chosen) or "")
    if not python.is_file() or not os.access(python, os.X_OK):
        raise UsageError(f"--python {chosen}: no such interpreter; give a path, a command on PATH or an environment's folder")
    return python.absolute()

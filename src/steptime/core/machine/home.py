"""The folder of environments, probe findings and data sets."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """STEPTIME_HOME, else the user's data directory."""
    chosen = os.environ.get("STEPTIME_HOME")
    if chosen:
        return Path(chosen).absolute()
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "steptime"

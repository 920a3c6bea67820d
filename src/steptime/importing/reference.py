"""The published figures that come with steptime: small, each with its source and date."""

from __future__ import annotations

from pathlib import Path


def reference_file() -> Path:
    return Path(__file__).with_name("reference.csv")

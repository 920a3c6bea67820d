"""What TensorFlow itself prints into the logs of whoever uses it."""

from __future__ import annotations

import re

GPU = re.compile(r"\bname: ([^,\n]{1,80}?)(?:[ \t]{1,9}(?:major:|computeCapability:|ROCm )|[ \t]{0,9}[,\r\n]|$)")


def gpu_name(text: str, start: int = 0, end: int | None = None) -> str:
    """Of the first GPU that TensorFlow found; empty where it found none."""
    match = GPU.search(text, start, len(text) if end is None else end) if "name: " in text else None
    return match.group(1).strip() if match else ""

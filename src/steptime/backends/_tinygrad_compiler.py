"""The C compiler that tinygrad calls for every kernel: the one in CC, that of the environment, or the system's clang."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from steptime.errors import Unsupported

MISSING = (
    "tinygrad compiles with clang, and there is none: steptime setup tinygrad brings one;"
    " or install the system's, such as `apt-get install clang`; or name one in the variable CC"
)


def find_compiler() -> str:
    """Sets CC for tinygrad, which takes one word; returns it. The wheel ziglang has a whole clang behind `zig clang`."""
    if not os.environ.get("CC"):
        os.environ["CC"] = _zig() or shutil.which("clang") or ""
    compiler = os.environ["CC"]
    if not compiler or not shutil.which(compiler):
        raise Unsupported(MISSING if not compiler else f"tinygrad's compiler CC={compiler} does not exist")
    return compiler


def _zig() -> str:
    """A script that is clang. It lies in a folder of this user's, because a framework's environment may be read-only."""
    found = importlib.util.find_spec("ziglang")
    folder = Path(next(iter(found.submodule_search_locations))) if found and found.submodule_search_locations else None
    if folder is None or not (folder / "zig").exists():
        return ""
    script = Path(tempfile.mkdtemp(prefix="steptime-clang-")) / "clang"
    script.write_text(f'#!/bin/sh\nexec "{folder / "zig"}" clang "$@"\n')
    script.chmod(0o755)
    return str(script)


def compiler_version(compiler: str) -> str:
    """Its first line, such as 'clang version 22.1.8'."""
    try:
        said = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.partition("\n")[0].partition(" (")[0].strip()

"""The C compiler that tinygrad calls for every kernel: the one in CC, that of the environment, or the system's clang."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from steptime.core.errors import Unsupported

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
    """A script that is clang, one per installation, in a folder of this user's: an environment may be read-only."""
    spec = importlib.util.find_spec("ziglang")
    folders = list(spec.submodule_search_locations or []) if spec else []
    zig = Path(folders[0]) / "zig" if folders else None
    if zig is None or not zig.exists():
        return ""
    folder = Path(tempfile.gettempdir()) / f"steptime-clang-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        folder = Path(tempfile.mkdtemp(prefix="steptime-clang-"))
    script = folder / f"clang-{hashlib.sha256(str(zig).encode()).hexdigest()[:12]}"
    if not script.exists():
        begun = script.with_suffix(f".{os.getpid()}")
        begun.write_text(f'#!/bin/sh\nexec "{zig}" clang "$@"\n')
        begun.chmod(0o755)
        begun.replace(script)
    return str(script)


def compiler_version(compiler: str) -> str:
    """Its first line, such as 'clang version 22.1.8'."""
    try:
        output = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return output.partition("\n")[0].partition(" (")[0].strip()

"""Installs an environment: an interpreter, the pinned packages, a test import, a lock file. The marker is written last."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from steptime.core.atomic import write_text
from steptime.core.errors import SetupError
from steptime.core.machine.home import home
from steptime.environments.pins import Pins

MARKER = "steptime.json"
LOCK = "lock.txt"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Environment:
    name: str
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Finished, not merely begun."""
        return (self.folder / MARKER).is_file() and self.python.exists()

    @property
    def packages(self) -> list[str]:
        """The pinned packages, from the marker; empty if the installation never finished."""
        try:
            return list(json.loads((self.folder / MARKER).read_text())["packages"])
        except (OSError, ValueError, KeyError):
            return []

    @property
    def version(self) -> str:
        """Of the framework, which is the first package; of Debian's what its makers call it: '1.0.0' of '1.0.0+git2018-8'."""
        version = (self.packages or [""])[0].partition("=")[2]
        return version[1:] if version.startswith("=") else re.split(r"[+~-]", version)[0]

    @property
    def lock(self) -> list[str]:
        try:
            return (self.folder / LOCK).read_text().split()
        except OSError:
            return []


def environment(name: str) -> Environment:
    return Environment(name, home() / "environments" / name)


def install(pins: Pins, rebuild: bool = False, pip_arguments: Sequence[str] = (), say: Say = print) -> Environment:
    """The environment, ready. One that is ready with the same pins is kept, unless `rebuild`."""
    env = environment(pins.name)
    if env.ready and env.packages == pins.wanted and not rebuild:
        say(f"{pins.name}: ready in {env.folder}")
        return env
    fill = _debian if pins.debian else _venv(_interpreter(pins))
    began = time.monotonic()
    say(f"{pins.name}: installing {', '.join(pins.wanted)} into {env.folder}")
    shutil.rmtree(env.folder, ignore_errors=True)
    env.folder.mkdir(parents=True)
    log = env.folder / "install.log"
    lock = fill(pins, env, pip_arguments, log, say)
    run_logged([env.python, "-c", f"import {pins.proof}"], log)
    write_text(env.folder / LOCK, lock)
    marker = {"packages": pins.wanted, "platform": pins.platform, "seconds": time.monotonic() - began}
    write_text(env.folder / MARKER, json.dumps(marker))
    say(f"{pins.name}: ready after {time.monotonic() - began:.0f} s")
    return env


Fill = Callable[[Pins, Environment, Sequence[str], Path, Say], str]
"""puts an interpreter and packages into a new environment; returns the text of its lock file"""


def _venv(interpreter: Path) -> Fill:
    def fill(pins: Pins, env: Environment, pip_arguments: Sequence[str], log: Path, say: Say) -> str:
        run_logged([interpreter, "-m", "venv", env.folder], log)
        run_logged([env.python, "-m", "pip", "install", "--disable-pip-version-check", *pip_arguments, *pins.packages], log)
        return subprocess.run([env.python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout

    return fill


def _debian(pins: Pins, env: Environment, pip_arguments: Sequence[str], log: Path, say: Say) -> str:
    from steptime.environments import debian

    assert pins.debian
    packages = debian.unpack(pins.debian, env.folder, log, lambda line: say(f"{pins.name}: {line}"))
    debian.add_wheels(pins.packages, env.folder, pip_arguments, log)
    debian.write_interpreter(env.python, env.folder)
    return "".join(f"{line}\n" for line in (*packages, *pins.packages))


def remove(name: str) -> bool:
    """Whether there was one."""
    folder = environment(name).folder
    there = folder.exists()
    shutil.rmtree(folder, ignore_errors=True)
    return there


def _interpreter(pins: Pins) -> Path:
    """Ours if the framework supports its version, else one of the right version on PATH."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" in pins.pythons:
        return Path(sys.executable)
    for version in reversed(pins.pythons):
        python = shutil.which(f"python{version}")
        if python:
            return Path(python)
    raise SetupError(f"{pins.name} needs Python {' or '.join(pins.pythons)}, and none is on PATH")


def run_logged(command: Sequence[Path | str], log: Path) -> None:
    with open(log, "ab") as file:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    if done.returncode:
        last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-1:]
        words = " ".join(str(part) for part in command)[:200]
        raise SetupError(f"'{words}' failed: {''.join(last)} (all of it in {log})")

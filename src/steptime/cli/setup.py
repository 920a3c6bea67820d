"""`steptime setup`: install frameworks, each into its own environment."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import click

from steptime.cli.options import json_option
from steptime.core.errors import SetupError, UnknownName
from steptime.environments import pins
from steptime.environments.install import environment, install, remove

AT_ONCE = 3
"""downloads overlap; more would only fight for the disk"""


@click.command("setup")
@click.argument("names", nargs=-1, required=False, metavar="[NAME..|all]")
@click.option("--platform", default="", help="cpu or cuda.  [default: cuda where an NVIDIA driver answers]")
@click.option("--rebuild", is_flag=True, help="Install again, even if the environment is ready.")
@click.option("--remove", "removing", is_flag=True, help="Delete the environments instead.")
@click.option("--pip-args", default="", metavar="ARGS", help="Arguments for pip, such as '--index-url URL'.")
@json_option
def command(names: tuple[str, ...], platform: str, rebuild: bool, removing: bool, pip_args: str, as_json: bool) -> int:
    """Install each framework in tested versions; without a NAME, list them and their size on disk."""
    chosen = pins.names() if "all" in names else list(dict.fromkeys(names))
    for name in chosen:
        if name not in pins.names():
            raise UnknownName("environment", name, [*pins.names(), "all"])
    if not chosen:
        return _list(as_json)
    if removing:
        for name in chosen:
            print(f"{name}: {'removed' if remove(name) else 'was not installed'}")
        return 0
    wanted = [pins.pins(name, platform) if platform else pins.pins_here(name, _platform()) for name in chosen]
    return _install(wanted, rebuild, shlex.split(pip_args))


@cache
def _platform() -> str:
    from steptime.core.machine.describe import describe

    return "cuda" if describe().accelerators else "cpu"


def _install(wanted: Sequence[pins.Pins], rebuild: bool, pip_arguments: Sequence[str]) -> int:
    """Several at once; one that fails does not stop the others."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tasks = [pool.submit(install, each, rebuild, pip_arguments, _say) for each in wanted]
        problems = [task.exception() for task in tasks]
    for problem in problems:
        if problem is not None and not isinstance(problem, SetupError):
            raise problem
        if problem is not None:
            print(f"steptime: {problem}", file=sys.stderr)
    return 1 if any(problems) else 0


def _say(line: str) -> None:
    print(line, flush=True)


def _list(as_json: bool) -> int:
    from steptime.cli.printing import size, table
    from steptime.environments.health import disk_bytes

    rows: list[dict[str, Any]] = []
    for name in pins.names():
        env = environment(name)
        taken = disk_bytes(env.folder) if env.folder.exists() else 0
        rows.append({"name": name, "ready": env.ready, "packages": env.packages, "disk_bytes": taken, "folder": str(env.folder)})
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    cells = [
        [str(r["name"]), "yes" if r["ready"] else "no", " ".join(r["packages"]), size(r["disk_bytes"] or None), str(r["folder"])]
        for r in rows
    ]
    print(table(("environment", "ready", "packages", "disk", "folder"), cells))
    return 0

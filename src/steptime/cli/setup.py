"""`steptime setup`: install a framework into an environment of its own."""

from __future__ import annotations

import shlex

import click


@click.command("setup")
@click.argument("names", nargs=-1, required=False, metavar="BACKEND..")
@click.option("--platform", default="", help="cpu or cuda.  [default: cuda where an NVIDIA driver answers]")
@click.option("--rebuild", is_flag=True, help="Start again even if it is ready.")
@click.option("--remove", "removing", is_flag=True, help="Delete the environments instead.")
@click.option("--pip-args", default="", metavar="ARGS", help="Passed to pip, such as '--index-url URL'.")
def command(names: tuple[str, ...], platform: str, rebuild: bool, removing: bool, pip_args: str) -> int:
    """Install each BACKEND with tested versions; without one, list those that can be installed."""
    from steptime.environments import pins
    from steptime.environments.install import install, remove
    from steptime.errors import UnknownName
    from steptime.machine.describe import describe

    for name in names:
        if name not in pins.names():
            raise UnknownName("environment", name, pins.names())
    if not names:
        print("can be installed: " + " ".join(pins.names()))
    for name in names:
        if removing:
            print(f"{name}: {'removed' if remove(name) else 'was not installed'}")
            continue
        chosen = platform or ("cuda" if describe().accelerators else "cpu")
        install(pins.pins(name, chosen), rebuild, shlex.split(pip_args))
    return 0

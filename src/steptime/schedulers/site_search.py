"""Finds site files: in ./sites, the user's configuration, then those that come with steptime."""

from __future__ import annotations

import os
from pathlib import Path

from steptime.core.errors import UnknownName, UsageError
from steptime.schedulers.site import Site
from steptime.schedulers.site_file import site_of

SHIPPED = Path(__file__).parent / "sites"
LOCAL = "local"
"""this machine, which is not a site"""


def folders() -> list[Path]:
    config = os.environ.get("XDG_CONFIG_HOME")
    user = (Path(config) if config else Path.home() / ".config") / "steptime" / "sites"
    return [Path.cwd() / "sites", user, SHIPPED]


def site_paths() -> dict[str, Path]:
    """The file of each name; the first folder that has it wins."""
    paths: dict[str, Path] = {}
    for folder in folders():
        for path in sorted(folder.glob("*.toml")):
            paths.setdefault(path.stem, path)
    return paths


def site_text(name: str) -> str:
    try:
        return _path(name).read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"cannot read the site {_path(name)}: {problem}") from None


def find_site(name: str) -> Site:
    """By name, or by the path of a file."""
    path = _path(name)
    return site_of(site_text(name), path.stem, str(path))


def _path(name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    known = site_paths()
    if name not in known:
        problem = UnknownName("site", name, [LOCAL, *known])
        raise UsageError(f"{problem}; put sites/{name}.toml into this folder or {folders()[1]}")
    return known[name]

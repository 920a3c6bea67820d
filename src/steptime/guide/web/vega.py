"""The Vega bundle that draws charts in the browser: third-party code, made by vl-convert, never kept in the repository.

A wheel carries it (hatch_build.py). An editable install makes it once, in a few seconds, and keeps it in the user's cache.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from steptime.core.errors import SetupError

BUNDLE = "vega.js.gz"


@cache
def bundle() -> bytes:
    """The bundle, gzipped. It is an ES module that sets window.vegaEmbed."""
    shipped = resources.files("steptime.guide") / "web" / BUNDLE
    if shipped.is_file():
        return shipped.read_bytes()
    kept = _cache_folder() / f"vega-{_maker_version()}.js.gz"
    if kept.is_file():
        return kept.read_bytes()
    made = make()
    _keep(kept, made)
    return made


def make() -> bytes:
    """The same bytes for the same vl-convert, so that wheels can be built again."""
    import vl_convert

    return gzip.compress(vl_convert.javascript_bundle().encode(), 9, mtime=0)  # type: ignore[call-arg]


def _maker_version() -> str:
    try:
        return version("vl-convert-python")
    except PackageNotFoundError:
        raise SetupError(
            "the guide draws its charts with vl-convert-python, which is not installed: pip install vl-convert-python"
        ) from None


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steptime"


def _keep(path: Path, content: bytes) -> None:
    """Whole or not at all: two guides may be started at once. A cache that cannot be written costs seconds, not the guide."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
    except OSError:
        return

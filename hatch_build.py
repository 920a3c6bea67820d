"""Puts the Vega bundle into the wheel, so that the guide needs no network and the repository holds no third-party code."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class VegaBundle(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # made on first use, and cached: see steptime/guide/web/vega.py
        import vl_convert

        made = Path(self.directory) / "vega.js.gz"
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(gzip.compress(vl_convert.javascript_bundle().encode(), 9, mtime=0))
        build_data["force_include"][str(made)] = "steptime/guide/web/vega.js.gz"

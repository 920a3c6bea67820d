"""`steptime resume`: continue an interrupted sweep."""

from __future__ import annotations

from typing import Any

import click

from steptime.cli.measuring import checked_settings, run_and_print
from steptime.cli.options import open_store
from steptime.cli.run_options import MeasuringOptions, measuring_options
from steptime.sweep.state import find_sweep, site_of_sweep


@click.command("resume")
@click.argument("name", required=False, default="", metavar="[SWEEP]")
@measuring_options
def command(name: str, **parameters: Any) -> int:
    """Continue SWEEP (an id or a plan's name; default: the newest). Cases that have a record are not measured again."""
    options = MeasuringOptions.of(parameters)
    store = open_store(options.store_path)
    sweep = find_sweep(store, name)
    site = site_of_sweep(store, sweep) if sweep.site else None
    return run_and_print(store, sweep, site, checked_settings(sweep.cases, site, options), options)

"""The schedulers that steptime can submit to, and which of them a site has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steptime.schedulers.scheduler import Scheduler
from steptime.schedulers.site import Site
from steptime.schedulers.slurm.commands import Slurm

SCHEDULERS: Mapping[str, Callable[[], Scheduler]] = {"slurm": Slurm}
"""by the names that site files use"""


def scheduler_of(site: Site) -> Scheduler:
    return SCHEDULERS[site.scheduler]()

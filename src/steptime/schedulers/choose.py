"""Which scheduler a site has."""

from __future__ import annotations

from steptime.schedulers.scheduler import Scheduler
from steptime.schedulers.site import Site
from steptime.schedulers.slurm.commands import Slurm


def scheduler_of(site: Site) -> Scheduler:
    """Every site runs Slurm so far."""
    return Slurm()

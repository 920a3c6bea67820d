"""Where cases run, this machine or a site, and whether it has the devices and stores that they name."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.core.errors import UnknownName, Unsupported, UsageError
from steptime.core.machine.cpus import usable_threads
from steptime.core.schema import Case
from steptime.plan.plan import Plan
from steptime.schedulers.site import RUNS_ON, Site


def site_named(name: str) -> Site | None:
    """None is this machine."""
    from steptime.schedulers.site_search import LOCAL, find_site

    return None if name == LOCAL else find_site(name)


def cores_of(site: Site | None) -> int:
    return site.cores if site and site.cores else usable_threads()


def check_places(plan: Plan, cases: Sequence[Case], site: Site | None) -> None:
    """Unknown names of devices and stores are usage errors; counts that the machine does not have become failed records."""
    if site is None:
        for device in dict.fromkeys(case.device for case in cases):
            if device not in RUNS_ON:
                raise plan.problem("device", UnknownName("device", device, RUNS_ON))
        return
    from steptime.schedulers.request import request_of

    for case in {(c.device, c.data_store): c for c in cases}.values():
        try:
            request_of(site, case)
        except Unsupported:
            continue
        except UsageError as problem:
            key = "device" if case.device not in site.devices else "data_store"
            raise plan.problem(key, problem) from None

"""What one case requests from a site. Cases with the same request can share a job array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steptime.core.errors import UnknownName, Unsupported
from steptime.core.schema import Case
from steptime.schedulers.site import DeviceType, Site

MARGIN_SECONDS = 300.0
"""for modules, staging and a slow file system, beyond the worker's own limit"""
IN_MEMORY = "dram"


@dataclass(frozen=True)
class Request:
    backend: str
    device: str
    nodes: int
    devices: int
    """and processes, per node"""
    threads: int
    gres: str
    """the devices of each node, as the scheduler calls them; empty for the CPU"""
    partition: str
    account: str
    qos: str
    time: str
    memory: str
    options: tuple[str, ...]
    """of the scheduler's submit command, beyond all these"""
    limit_seconds: float
    store: str
    """the site's directory to which data are staged; empty: none"""

    @property
    def processes(self) -> int:
        return self.nodes * self.devices


def device_of(site: Site, case: Case) -> DeviceType:
    if case.device not in site.devices:
        raise UnknownName(f"device of {site.name}", case.device, site.devices)
    return site.devices[case.device]


def request_of(site: Site, case: Case) -> Request:
    """Raises Unsupported for a number of devices that the site lacks, UnknownName for an unknown device or directory."""
    kind = device_of(site, case)
    store = "" if case.data_store == IN_MEMORY or "/" in case.data_store else case.data_store
    if store and store not in site.directories:
        raise UnknownName(f"data store of {site.name}", store, [IN_MEMORY, *site.directories])
    if kind.counts and case.devices not in kind.counts:
        counts = " or ".join(map(str, kind.counts))
        raise Unsupported(f"{site.name} allows {counts} {kind.name} per node, not {case.devices}")
    wants = kind.wants
    return Request(
        backend=case.backend,
        device=kind.name,
        nodes=case.nodes,
        devices=case.devices,
        threads=case.threads,
        gres=f"{kind.gres}:{case.devices}" if kind.gres else "",
        partition=wants.partition,
        account=wants.account,
        qos=wants.qos,
        time=wants.time or str(math.ceil((case.budget.limit_seconds + MARGIN_SECONDS) / 60)),
        memory=wants.memory,
        options=wants.sbatch,
        limit_seconds=case.budget.limit_seconds,
        store=store,
    )


def request_words(request: Request) -> str:
    """'2 p100 in gpu', '1 node in def'."""
    many = request.nodes > 1
    nodes = f"{request.nodes} nodes" if many else "1 node"
    what = f"{request.devices} {request.device}{f' on each of {nodes}' if many else ''}" if request.gres else nodes
    return f"{what} in {request.partition}" if request.partition else what


def chunks(site: Site, count: int, largest: int) -> Sequence[range]:
    """Divides `count` cases of the same request into jobs: one array, several, or one job each."""
    if count < site.arrays.at_least:
        return [range(i, i + 1) for i in range(count)]
    size = max(1, min(site.arrays.largest, largest))
    return [range(i, min(i + size, count)) for i in range(0, count, size)]

"""What was found out, kept per machine under STEPTIME_HOME/machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from steptime.core.atomic import write_text
from steptime.core.backends.base import find
from steptime.core.machine.home import home
from steptime.core.schema import Case


@dataclass(frozen=True)
class Finding:
    """One precision of one backend with so many threads on one kind of device."""

    backend: str
    precision: str
    device: str
    threads: int
    framework_version: str
    ran_precision: str
    peak_flops: float
    verdict: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """the cap on the instruction set that made it work; empty where none was needed"""
    note: str = ""
    busy_threads: int | None = None
    """that were seen to work while the peak was measured"""


@dataclass(frozen=True)
class Knowledge:
    findings: dict[str, Finding] = field(default_factory=dict)

    def peak_flops(self, case: Case) -> float | None:
        """The machine's limit at the case's precision: the best that any backend reached; for one that only pretends, its own."""
        asked = (case.precision, case.device, case.threads)
        alike = [f for f in self.findings.values() if (f.precision, f.device, f.threads) == asked]
        real = find(case.backend).real
        peaks = [f.peak_flops for f in alike if (find(f.backend).real if real else f.backend == case.backend)]
        return max(peaks, default=0.0) or None


def path_of(machine_id: str) -> Path:
    return home() / "machines" / f"{machine_id}.json"


def recall(machine_id: str) -> Knowledge:
    """An unreadable file is forgotten: everything in it can be found out again."""
    try:
        return msgspec.json.decode(path_of(machine_id).read_bytes(), type=Knowledge)
    except (OSError, msgspec.DecodeError):
        return Knowledge()


def remember(machine_id: str, key: str, finding: Finding) -> Knowledge:
    knowledge = recall(machine_id)
    knowledge = Knowledge({**knowledge.findings, key: finding})
    path_of(machine_id).parent.mkdir(parents=True, exist_ok=True)
    write_text(path_of(machine_id), msgspec.json.encode(knowledge).decode())
    return knowledge

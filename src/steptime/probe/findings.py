"""What probes found out about a machine, kept under STEPTIME_HOME/machines."""

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
    """What a probe found about one precision of one backend, with a number of threads, on one kind of device."""

    backend: str
    precision: str
    device: str
    threads: int
    framework_version: str
    ran_precision: str
    peak_flops: float
    verdict: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """the variables that limit the instruction set, where it did not work without them"""
    note: str = ""
    busy_threads: int | None = None
    """threads that worked while the peak was measured"""


@dataclass(frozen=True)
class Findings:
    """All of one machine, by probe_key."""

    findings: dict[str, Finding] = field(default_factory=dict)

    def peak_flops(self, case: Case) -> float | None:
        """The machine's limit at the case's precision: the best that any backend reached; for null and fake, their own."""
        wanted = (case.precision, case.device, case.threads)
        alike = [f for f in self.findings.values() if (f.precision, f.device, f.threads) == wanted]
        computes = find(case.backend).is_framework
        peaks = [f.peak_flops for f in alike if (find(f.backend).is_framework if computes else f.backend == case.backend)]
        return max(peaks, default=0.0) or None


def path_of(machine_id: str) -> Path:
    return home() / "machines" / f"{machine_id}.json"


def read_findings(machine_id: str) -> Findings:
    """An unreadable file counts as empty: probes can find everything out again."""
    try:
        return msgspec.json.decode(path_of(machine_id).read_bytes(), type=Findings)
    except (OSError, msgspec.DecodeError):
        return Findings()


def store_finding(machine_id: str, key: str, finding: Finding) -> None:
    findings = Findings({**read_findings(machine_id).findings, key: finding})
    path_of(machine_id).parent.mkdir(parents=True, exist_ok=True)
    write_text(path_of(machine_id), msgspec.json.encode(findings).decode())

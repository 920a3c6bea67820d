"""Probes a backend as it comes; if it dies of an illegal instruction, with ever lower instruction sets."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from steptime.core.backends.base import Backend, find
from steptime.core.schema import Budget, Case, Job, JobKind, ProbeResult, Status, Verdict
from steptime.launch.local import record_of, run_worker
from steptime.probe.findings import Finding, read_findings, store_finding

PROBE_LIMIT_SECONDS = 120.0
Say = Callable[[str], None]


@dataclass
class Prober:
    """Probes what is not known of a machine yet, and once more what was found while others used the machine."""

    machine_id: str
    say: Say
    _probed: set[str] = field(default_factory=set)

    def finding(self, case: Case, python: Path) -> Finding | None:
        """For the case's backend, precision, device and threads; None if the probe failed.

        A failure other than an illegal instruction is left to the case itself, which records it.
        """
        backend = find(case.backend)
        key = probe_key(backend, case, python)
        known = read_findings(self.machine_id).findings.get(key)
        is_reliable = known is not None and known.verdict != Verdict.CONTENDED
        if not backend.needs_probe or is_reliable or key in self._probed:
            return known
        return self.probe(case, python)

    def probe(self, case: Case, python: Path) -> Finding | None:
        """Probes now, and keeps the better peak."""
        backend = find(case.backend)
        key = probe_key(backend, case, python)
        self._probed.add(key)
        self.say(f"probing {case.backend} {case.phase} {case.precision} with {case.threads} threads on this machine")
        finding, known = _search(backend, case, python), read_findings(self.machine_id).findings.get(key)
        if finding is None:
            return known
        if known and known.peak_flops > finding.peak_flops:
            finding = replace(finding, peak_flops=known.peak_flops)
        store_finding(self.machine_id, key, finding)
        return finding

    def peak_flops(self, case: Case) -> float | None:
        """The limit of all ranks together."""
        peak = read_findings(self.machine_id).peak_flops(case)
        return peak * case.replicas if peak else None


def probe_key(backend: Backend, case: Case, python: Path) -> str:
    options = ",".join(f"{k}={case.backend_options[k]}" for k in backend.probe_options if k in case.backend_options)
    return "|".join((case.backend, case.precision, case.device, case.phase, str(case.threads), str(python), options))


def _search(backend: Backend, case: Case, python: Path) -> Finding | None:
    tried: list[str] = []
    for cap in ({}, *backend.instruction_caps):
        outcome = _try(case, python, {**backend.environment(case), **cap})
        if isinstance(outcome, ProbeResult):
            return _finding(outcome, cap, tried)
        if outcome != Status.ILLEGAL_INSTRUCTION:
            return None
        tried.append(", ".join(f"{k}={v}" for k, v in cap.items()) or "all that the CPU advertises")
    return None


def _finding(result: ProbeResult, cap: dict[str, str], tried: list[str]) -> Finding:
    return Finding(
        backend=result.backend,
        precision=result.precision,
        device=result.device,
        threads=result.threads,
        framework_version=result.framework_version,
        ran_precision=result.ran_precision,
        peak_flops=result.peak_flops,
        verdict=result.verdict,
        busy_threads=result.busy_threads,
        environment=dict(cap),
        note=f"illegal instruction with {' and with '.join(tried)}" if tried else "",
    )


def _try(case: Case, python: Path, environment: dict[str, str]) -> ProbeResult | Status:
    """What the probe found, or the kind of its failure."""
    limited = replace(case, budget=Budget(limit_seconds=PROBE_LIMIT_SECONDS))
    job = Job("probe", limited, kind=JobKind.PROBE, environment=environment)
    with tempfile.TemporaryDirectory(prefix="steptime-probe-") as name:
        folder = Path(name) / "job"
        ending = run_worker(job, folder, Path(name), python, lambda event: None)
        result = folder / "probe.json"
        if result.exists():
            return msgspec.json.decode(result.read_bytes(), type=ProbeResult)
        return record_of(job, folder, ending).status

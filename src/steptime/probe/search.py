"""The search: as the framework comes; if that dies of an illegal instruction, with ever lower instruction sets."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from steptime.backends.base import Backend, find
from steptime.launch.local import record_of, run_worker
from steptime.probe.memory import Finding, recall, remember
from steptime.schema import Budget, Case, Job, ProbeResult

PROBE_LIMIT_SECONDS = 120.0
Say = Callable[[str], None]


def known_or_found(case: Case, python: Path, machine_id: str, say: Say, again: bool = False) -> Finding | None:
    """What is known of the case's backend, precision, device and threads here; None if nothing could be learnt.

    A probe that fails in another way than an illegal instruction says nothing: the case itself will tell.
    """
    backend = find(case.backend)
    if not backend.probes:
        return None
    key = probe_key(backend, case, python)
    known = recall(machine_id).findings.get(key)
    if known and not again:
        return known
    say(f"probing {case.backend} {case.precision} with {case.threads} threads on this machine")
    found = _search(backend, case, python)
    if found is None:
        return known
    if known:
        found = replace(found, peak_flops=max(found.peak_flops, known.peak_flops))
    remember(machine_id, key, found)
    return found


def probe_key(backend: Backend, case: Case, python: Path) -> str:
    options = ",".join(f"{k}={case.backend_options[k]}" for k in backend.probe_options if k in case.backend_options)
    return "|".join((case.backend, case.precision, case.device, case.phase, str(case.threads), str(python), options))


def _search(backend: Backend, case: Case, python: Path) -> Finding | None:
    tried: list[str] = []
    for cap in ({}, *backend.instruction_caps):
        outcome = _try(case, python, {**backend.environment(case), **cap})
        if isinstance(outcome, ProbeResult):
            note = f"illegal instruction with {' and with '.join(tried)}" if tried else ""
            return Finding(
                outcome.backend,
                outcome.precision,
                outcome.device,
                outcome.threads,
                outcome.framework_version,
                outcome.ran_precision,
                outcome.peak_flops,
                dict(cap),
                note,
            )
        if outcome != "illegal_instruction":
            return None
        tried.append(", ".join(f"{k}={v}" for k, v in cap.items()) or "all that the CPU advertises")
    return None


def _try(case: Case, python: Path, environment: dict[str, str]) -> ProbeResult | str:
    """What the probe found, or the kind of its failure."""
    limited = replace(case, budget=Budget(limit_seconds=PROBE_LIMIT_SECONDS))
    job = Job("probe", limited, kind="probe", environment=environment)
    with tempfile.TemporaryDirectory(prefix="steptime-probe-") as name:
        folder = Path(name) / "job"
        ending = run_worker(job, folder, Path(name), python, lambda event: None)
        result = folder / "probe.json"
        if result.exists():
            return msgspec.json.decode(result.read_bytes(), type=ProbeResult)
        return record_of(job, folder, ending).status

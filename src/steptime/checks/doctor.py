"""Checks whether a backend works here, by a few real training steps in a separate process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from steptime.checks.proofs import Proof, stored_proof
from steptime.checks.proofs import prove as prove_backend
from steptime.core.backends.base import find
from steptime.core.machine.cpus import usable_threads
from steptime.core.schema import Budget, Case, Job, Phase, Record, Software, Status
from steptime.environments.choose import interpreter
from steptime.environments.health import complaint
from steptime.environments.install import environment
from steptime.launch.local import record_of, run_worker

TRIAL = Budget(min_steps=1000, max_steps=1000, max_seconds=1.5, limit_seconds=180.0)
"""long enough to see which threads are busy"""


def examine(name: str, python: str = "", prove: bool = False) -> dict[str, Any]:
    """backend, works, version, threads, whether its results were proven, what was seen, and the remedy."""
    home = find(name).environment_name
    wrong = complaint(environment(home)) if home and not python else ""
    if wrong:
        flag = "--rebuild " if environment(home).folder.exists() else ""
        return _finding(name, False, f"{home} {wrong}", f"steptime setup {flag}{home}")
    chosen = interpreter(name, python)
    record = _try(name, chosen)
    if record.status == Status.OK and record.summary and record.software:
        steps = len(record.steps.seconds) if record.steps else 0
        seen = f"{steps} {record.case.phase} steps of mnist_cnn, {chosen}"
        proof = _proof(name, record.software.framework_version, chosen, prove)
        different = bool(proof and proof.wrong)
        remedy = "do not compare its figures with others'" if different else ""
        proven = {"proven": proof.words if proof else ""}
        return {**_finding(name, not different, seen, remedy), **_facts(record.software), **proven}
    rebuild = f"steptime setup --rebuild {find(name).environment_name}" if find(name).environment_name and not python else ""
    return _finding(name, False, f"{record.status}: {record.message}", rebuild or "use another --python")


def _try(name: str, python: Path) -> Record:
    backend = find(name)
    phase = Phase.TRAINING if Phase.TRAINING in backend.phases else Phase(backend.phases[0])
    case = Case("mnist_cnn", name, 8, phase=phase, threads=usable_threads(), budget=TRIAL)
    job = Job("doctor", case, environment=backend.environment(case))
    with tempfile.TemporaryDirectory(prefix="steptime-doctor-") as folder:
        ending = run_worker(job, Path(folder) / "job", Path(folder), python, lambda event: None)
        return record_of(job, Path(folder) / "job", ending)


def _proof(name: str, version: str, python: Path, wanted: bool) -> Proof | None:
    """Made now, or stored before for the same version; null and fake have nothing to prove."""
    if not find(name).is_framework:
        return None
    return prove_backend(name, version, python) if wanted else stored_proof(name, version)


def _facts(software: Software) -> dict[str, Any]:
    keys = ("framework_version", "threads", "busy_threads")
    return dict(zip(("version", "threads", "busy_threads"), (getattr(software, key) for key in keys)))


def _finding(name: str, works: bool, seen: str, remedy: str = "") -> dict[str, Any]:
    nothing = {"version": "", "threads": None, "busy_threads": None, "proven": ""}
    return {"backend": name, "works": works, **nothing, "seen": seen, "remedy": remedy}

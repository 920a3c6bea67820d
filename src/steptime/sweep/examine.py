"""Does a backend work here? Found out by a few real training steps in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from steptime.backends.base import find
from steptime.environments.choose import interpreter
from steptime.environments.health import complaint
from steptime.environments.install import environment
from steptime.launch.local import record_of, run_worker
from steptime.machine.cpus import usable_threads
from steptime.schema import OK, Budget, Case, Job, Record

TRIAL = Budget(min_steps=2, max_steps=5, max_seconds=20.0, limit_seconds=180.0)


def examine(name: str, python: str = "") -> dict[str, Any]:
    """backend, works, version, threads, what was seen, and the remedy."""
    home = find(name).environment_name
    wrong = complaint(environment(home)) if home and not python else ""
    if wrong:
        flag = "--rebuild " if environment(home).folder.exists() else ""
        return _finding(name, False, f"{home} {wrong}", f"steptime setup {flag}{home}")
    chosen = interpreter(name, python)
    record = _try(name, chosen)
    if record.status == OK and record.summary and record.software:
        seen = f"{len(record.steps.seconds) if record.steps else 0} training steps of mnist_cnn, {chosen}"
        return {**_finding(name, True, seen), "version": record.software.framework_version, "threads": record.software.threads}
    rebuild = f"steptime setup --rebuild {find(name).environment_name}" if find(name).environment_name and not python else ""
    return _finding(name, False, f"{record.status}: {record.message}", rebuild or "use another --python")


def _try(name: str, python: Path) -> Record:
    backend = find(name)
    phase = "training" if "training" in backend.phases else backend.phases[0]
    case = Case("mnist_cnn", name, 8, phase=phase, threads=usable_threads(), budget=TRIAL)
    job = Job("doctor", case, environment=backend.environment(case))
    with tempfile.TemporaryDirectory(prefix="steptime-doctor-") as folder:
        ending = run_worker(job, Path(folder) / "job", Path(folder), python, lambda event: None)
        return record_of(job, Path(folder) / "job", ending)


def _finding(name: str, works: bool, seen: str, remedy: str = "") -> dict[str, Any]:
    return {"backend": name, "works": works, "version": "", "threads": None, "seen": seen, "remedy": remedy}

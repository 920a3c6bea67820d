"""Where a job of a sweep lives: one folder per case, named so that a person finds it."""

from __future__ import annotations

from pathlib import Path

from steptime.core.schema import Case, case_key


def job_folder(sweep_folder: Path, case: Case) -> Path:
    return sweep_folder / f"{case.model}-{case.backend}-{case.phase}-{case_key(case)[:10]}"

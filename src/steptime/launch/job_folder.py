"""A job's folder: one per case, named so that a person finds it, with the worker file in it.

The worker file is `steptime.core` packed as steptime-worker.pyz, which any interpreter that has the framework can run.
"""

from __future__ import annotations

import io
import os
import zipfile
from functools import cache
from pathlib import Path

import steptime
from steptime.core.schema import Case, case_key

WORKER = "steptime-worker.pyz"
MAIN = 'import runpy\n\nrunpy.run_module("steptime.core.worker", run_name="__main__", alter_sys=True)\n'
EPOCH = (1980, 1, 1, 0, 0, 0)


def job_folder(sweep_folder: Path, case: Case) -> Path:
    return sweep_folder / f"{case.model}-{case.backend}-{case.phase}-{case_key(case)[:10]}"


@cache
def worker_bytes() -> bytes:
    """The same bytes for the same sources."""
    root = Path(steptime.__file__).parent
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py", EPOCH), MAIN)
        for path in _sources(root):
            entry = zipfile.ZipInfo(f"steptime/{path.relative_to(root).as_posix()}", EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()


def _sources(root: Path) -> list[Path]:
    return sorted([root / "__init__.py", *(root / "core").rglob("*.py")])


def put_worker(folder: Path, shared: Path) -> Path:
    """The worker file in a job's folder, as a link to one copy in `shared` where the file system allows."""
    target, original = folder / WORKER, shared / WORKER
    if not original.exists():
        temporary = shared / f".{WORKER}.{os.getpid()}"
        temporary.write_bytes(worker_bytes())
        temporary.replace(original)
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(original)
    except OSError:
        target.write_bytes(original.read_bytes())
    return target

"""What a case printed. The record names its folder, so a folder outside the store's sweeps is not read."""

from __future__ import annotations

from pathlib import Path

from steptime.core.atomic import write_text
from steptime.core.schema import Record, case_key
from steptime.store.files import Store

LOG_BYTES = 64_000


def log_path(store: Store, record: Record) -> Path | None:
    sweeps = (store.root / "sweeps").resolve()
    case = record.case
    path = sweeps / record.sweep / f"{case.model}-{case.backend}-{case.phase}-{case_key(case)[:10]}" / "log.txt"
    try:
        inside = path.resolve().is_relative_to(sweeps) and path.parent.parent.parent == sweeps
    except (OSError, ValueError):
        return None
    return path if record.sweep and inside and ".." not in path.parts else None


def log_of(store: Store, record: Record) -> tuple[str, bool]:
    """The end of the log, and whether that is all of it."""
    path = log_path(store, record)
    try:
        return _tail(path) if path and path.is_file() else ("", True)
    except (OSError, ValueError):
        return "", True


def keep_log(store: Store, record: Record, text: str) -> bool:
    """Puts a log where `log_of` finds it, unless there is one."""
    path = log_path(store, record)
    try:
        if not text or path is None or path.exists():
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    except (OSError, ValueError):
        return False
    return True


def _tail(path: Path) -> tuple[str, bool]:
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - LOG_BYTES))
        return file.read(LOG_BYTES).decode("utf-8", "replace"), size <= LOG_BYTES

"""Which of the long tests may run at once and which share a process; and what was skipped, in a line for each reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

SHARED = ("tests/slurm", "tests/guide/web")
"""folders whose tests share a cluster or a browser"""


LONGEST = (
    "tests/slurm/",
    "tests/cli/test_sweeps.py",
    "tests/core/backends/test_parity.py",
    "tests/core/models/",
    "tests/guide/web/",
)
"""in the order in which they begin: the cluster mostly waits, so it goes well with what computes"""


def _place(path: str) -> int:
    return next((place for place, start in enumerate(LONGEST) if path.startswith(start)), len(LONGEST))


def group_of(path: str, parameters: dict[str, Any]) -> str:
    """Tests of one group run one after another in one process: those of a file, of a shared fixture, of one backend's parity."""
    folder = next((each for each in SHARED if path.startswith(f"{each}/")), "")
    backend = getattr(parameters.get("candidate"), "backend", None)  # none where a backend has no variants
    return folder or (f"{path} {backend.name}" if backend else path)


def arranged(items: list[Any], root: Path, several: bool) -> None:
    """Marks long tests with their group, and with `alone` those that measure a framework by the command, as a user does.

    Where several run at once the longest groups come first, so that nobody waits for one of them at the end.
    """
    if several:
        items.sort(key=lambda item: _place(item.path.relative_to(root).as_posix()) if item.get_closest_marker("real") else -1)
    for item in items:
        if item.get_closest_marker("real"):
            call = getattr(item, "callspec", None)
            path = item.path.relative_to(root).as_posix()
            item.add_marker(pytest.mark.xdist_group(group_of(path, call.params if call else {})))
            if path.startswith("tests/core/backends/") and "steptime" in item.fixturenames:
                item.add_marker(pytest.mark.alone)


def reasons(skipped: Iterable[Any]) -> list[str]:
    """One line for each reason, the most frequent first."""
    said = Counter(_reason(report.longrepr) for report in skipped)
    return [f"skipped {count}: {reason}" for reason, count in said.most_common()]


def _reason(longrepr: Any) -> str:
    text = str(longrepr[2] if isinstance(longrepr, tuple) else longrepr)
    return re.sub(r"\s+", " ", text.removeprefix("Skipped: ")).partition("   (")[0].partition(" (or ")[0][:150]

"""The Performance Guide: every result, explored. `docs/guide-query.md` says what each figure means, exactly.

From Python: `from steptime import guide; guide.open("steptime-results").chart(x="model", group="precision")`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steptime.guide.sharing.notebook import Results


def open(folder: str | Path = "steptime-results") -> Results:  # noqa: A001 - guide.open reads as what it does
    """The results in a folder, to be asked."""
    from steptime.guide.sharing.notebook import Results

    return Results(folder)

"""The guide from Python, for notebooks and scripts:

from steptime import guide

results = guide.open("steptime-results")
chart = results.chart(x="model", y="throughput", group="precision", filters={"phase": "training"})
chart                      # draws itself in Jupyter
chart.points               # the figures
chart.save("out.svg")      # or .png, .pdf, .csv, .json, .vl.json
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.core.errors import SetupError, UsageError
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import kind_of
from steptime.guide.sharing.export import picture, rendered, suffix_of
from steptime.guide.view.view import View
from steptime.store.files import Store


@dataclass(frozen=True)
class Drawn:
    """An answer that knows how to draw itself."""

    answer: Any

    @property
    def points(self) -> Sequence[Any]:
        """The figures: points of a chart, lines of a scaling chart, cells of a coverage matrix."""
        return kind_of(self.answer).items(self.answer)

    @property
    def warnings(self) -> Sequence[str]:
        return [warning.text for warning in getattr(self.answer, "warnings", ())]

    def spec(self, theme: str = "light") -> dict[str, Any]:
        """As Vega-Lite."""
        return kind_of(self.answer).spec(self.answer, theme)

    def save(self, path: str | Path, theme: str = "light") -> None:
        """The suffix decides what is written."""
        content = rendered(self.answer, suffix_of(str(path)), theme)
        try:
            Path(path).write_bytes(content)
        except OSError as problem:
            raise UsageError(f"cannot write {path}: {problem.strerror}") from None

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"application/vnd.vegalite.v5+json": self.spec(), "text/plain": repr(self.answer)[:2000]}
        with contextlib.suppress(SetupError):
            bundle["image/png"] = picture(self.spec(), "png")
        return bundle


class Results:
    """A store, for people."""

    def __init__(self, folder: str | Path) -> None:
        self.guide = Guide(Store(Path(folder).absolute()))
        self.guide.refresh()

    def ask(self, view: View | str) -> Drawn:
        """A view, or its address."""
        self.guide.refresh()
        return Drawn(self.guide.answer(view if isinstance(view, View) else View.parse(view.rpartition("?")[2])))

    def chart(self, **arguments: Any) -> Drawn:
        return self.ask(View.of(**arguments))

    def scaling(self, **arguments: Any) -> Drawn:
        return self.ask(View.of(**{**arguments, "kind": "scaling"}))

    def coverage(self, **arguments: Any) -> Drawn:
        return self.ask(View.of(**{**arguments, "kind": "coverage"}))

    def compare(self, **arguments: Any) -> Drawn:
        return self.ask(View.of(**{**arguments, "kind": "compare"}))

    def runs(self, **arguments: Any) -> Sequence[dict[str, Any]]:
        return self.guide.runs(View.of(**{**arguments, "kind": "runs"}), limit=1000).rows

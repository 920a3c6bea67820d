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
from steptime.guide.charts import chart_values as charts
from steptime.guide.charts import panels
from steptime.guide.engine import Guide
from steptime.guide.query.results import Comparison, Coverage, Point, Result, RunList, Scaling
from steptime.guide.sharing import export
from steptime.guide.view.view import View
from steptime.store.files import Store

Answer = Result | Scaling | Coverage | Comparison | RunList


@dataclass(frozen=True)
class Drawn:
    """An answer that knows how to draw itself."""

    answer: Answer

    @property
    def points(self) -> Sequence[Point]:
        return self.answer.points if isinstance(self.answer, Result) else ()

    @property
    def warnings(self) -> Sequence[str]:
        return getattr(self.answer, "warnings", ())

    def spec(self, look: str = "light") -> dict[str, Any]:
        return spec_of(self.answer, look)

    def save(self, path: str | Path, look: str = "light") -> None:
        """The suffix decides what is written."""
        content = rendered(self.answer, export.suffix_of(str(path)), look)
        try:
            Path(path).write_bytes(content)
        except OSError as problem:
            raise UsageError(f"cannot write {path}: {problem.strerror}") from None

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"application/vnd.vegalite.v5+json": self.spec(), "text/plain": repr(self.answer)[:2000]}
        with contextlib.suppress(SetupError):
            bundle["image/png"] = export.picture(self.spec(), "png")
        return bundle


def spec_of(answer: Answer, look: str = "light") -> dict[str, Any]:
    """The chart of any answer that has one."""
    if isinstance(answer, Result):
        return charts.spec(answer, look)
    if isinstance(answer, Scaling):
        return panels.scaling_spec(answer, look)
    if isinstance(answer, Coverage):
        return panels.coverage_spec(answer, look)
    if isinstance(answer, Comparison):
        return panels.compare_spec(answer, look)
    raise UsageError("a list of runs has no chart; save it as .csv or .json")


def rendered(answer: Answer, suffix: str, look: str = "light") -> bytes:
    """An answer as the content of a file."""
    if suffix == "json":
        return export.json_text(answer).encode()
    if suffix == "csv":
        if isinstance(answer, Comparison):
            raise UsageError("a comparison is no table; save it as .json, or as a picture")
        return export.csv_text(answer).encode()
    spec = spec_of(answer, look)
    return export.spec_text(spec).encode() if suffix == "vl.json" else export.picture(spec, suffix)


def answer_of(guide: Guide, view: View) -> Answer:
    """What a view asks for."""
    if view.kind == "scaling":
        return guide.scaling(view)
    if view.kind == "coverage":
        return guide.coverage(view)
    if view.kind == "compare":
        return guide.compare(view)
    if view.kind in ("runs", "run"):
        return guide.runs(view)
    return guide.query(view)


class Results:
    """A store, for people."""

    def __init__(self, folder: str | Path) -> None:
        self.guide = Guide(Store(Path(folder).absolute()))
        self.guide.refresh()

    def ask(self, view: View | str) -> Drawn:
        """A view, or its address."""
        self.guide.refresh()
        return Drawn(answer_of(self.guide, view if isinstance(view, View) else View.parse(view.rpartition("?")[2])))

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

"""What a reader should know before believing a chart: a code for programs and a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from steptime.guide.view.texts import Text


class WarningCode(StrEnum):
    MIXED = "mixed"
    DIFFERENT = "different"
    NOT_AVERAGED = "not_averaged"
    ABOVE_IDEAL = "above_ideal"
    UNKNOWN_BATCH = "unknown_batch"
    CONTENDED = "contended"
    FACETS_CUT = "facets_cut"
    NAMES_CUT = "names_cut"
    UNKNOWN_X = "unknown_x"
    NO_SINGLE_DEVICE = "no_single_device"
    NO_PRICE = "no_price"
    NO_MEASURE = "no_measure"
    NO_BASELINE = "no_baseline"
    LINES_WITHOUT_SINGLE_DEVICE = "lines_without_single_device"
    LINES_CUT = "lines_cut"
    SIDE_CONTENDED = "side_contended"
    SIDE_CONFIGURATIONS = "side_configurations"


def _counted(noun: str, singular: str, plural: str, rest: str) -> Text:
    """'1 point has ..', '2 points have ..'."""
    return Text(f"{{n}} {noun}s {plural} {rest}", f"{{n}} {noun} {singular} {rest}")


TEXTS = {
    WarningCode.MIXED: Text("a point {verb} up to {values}; filter or group by them to compare like with like"),
    WarningCode.DIFFERENT: Text("points differ also in {values}; filter or group by them to compare like with like"),
    WarningCode.NOT_AVERAGED: _counted(
        "point", "has", "have", "no figure: runs of different {names} are never averaged; filter or group by it"
    ),
    WarningCode.ABOVE_IDEAL: _counted(
        "point",
        "has",
        "have",
        "an efficiency above 100%: the run on one device was slowed, or a device's share of the work fits its caches better",
    ),
    WarningCode.UNKNOWN_BATCH: _counted("run", "is", "are", "not shown: the batch size is unknown, so nothing says what scales"),
    WarningCode.CONTENDED: Text(
        "{n} contended runs are left out; include them with contended=1",
        "{n} contended run is left out; include it with contended=1",
    ),
    WarningCode.FACETS_CUT: Text("the first {most} of {total} small charts are drawn; filter to choose"),
    WarningCode.NAMES_CUT: Text(
        "{most} of {total} {names} are drawn, those with the most runs; filter to choose, the table has all"
    ),
    WarningCode.UNKNOWN_X: _counted("point", "is", "are", "not shown: the runs do not say the {dimension}"),
    WarningCode.NO_SINGLE_DEVICE: _counted(
        "point", "has", "have", "no run on one device to be measured against, so no {measure}"
    ),
    WarningCode.NO_PRICE: _counted("point", "has", "have", "no label {label}, so no cost"),
    WarningCode.NO_MEASURE: _counted("point", "has", "have", "no {measure}"),
    WarningCode.NO_BASELINE: _counted("point", "is", "are", "not shown relative to {baseline}: it has no figure there"),
    WarningCode.LINES_WITHOUT_SINGLE_DEVICE: _counted(
        "line", "has", "have", "no run on one device, so no speed-up, no efficiency and no ideal line"
    ),
    WarningCode.LINES_CUT: Text("{n} of {total} lines are not shown; filter to choose"),
    WarningCode.SIDE_CONTENDED: Text("{name} was contended: something else used the machine"),
    WarningCode.SIDE_CONFIGURATIONS: Text("{name} has {n} configurations; only those that both sides have are compared"),
}
MIXED_VERBS = {"mean": Text("averages"), "median": Text("is the median over"), "": Text("is the {agg} of")}
"""by aggregation; the empty one is for all others"""


@dataclass(frozen=True)
class ChartWarning:
    code: str
    text: str

    def __str__(self) -> str:
        return self.text


def warning(code: WarningCode, **fields: Any) -> ChartWarning:
    return ChartWarning(code, TEXTS[code](**fields))

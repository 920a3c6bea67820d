"""Two or more runs, or groups of runs, against the first of them: by how much, how sure, and what else is not the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from steptime.analysis import comparison
from steptime.analysis.comparison import MARGIN, UNMISTAKABLE, Estimate
from steptime.core.errors import UsageError
from steptime.core.schema import Change, ComparisonVerdict, Status
from steptime.guide.charts.chart_template import frame, reference
from steptime.guide.charts.spec_template import Spec, slot, when
from steptime.guide.charts.theme import VERDICT_COLOURS
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import CHARTS, Kind
from steptime.guide.query.configurations import KINDS_OF_WORK, NOT_AVERAGED
from steptime.guide.query.differing import Differing, between_groups, between_records
from steptime.guide.query.filter_sql import Select, intersection
from steptime.guide.query.results import plain
from steptime.guide.query.runs import record, unknown_run
from steptime.guide.query.warning_codes import ChartWarning, WarningCode, warning
from steptime.guide.view.dimensions import NOT_RUN, STORED_MEASURES, Measure, measure
from steptime.guide.view.texts import Text
from steptime.guide.view.view import View
from steptime.store.columns import CONFIGURING
from steptime.store.snapshot import Snapshot

MOST_IDS = 20
MOST_RUNS = 100_000
KEYS = tuple(d for d in CONFIGURING if d not in ("software",))
"""what must be the same for two runs to be compared with each other, where both sides have several configurations"""
TELLING = ("model", "phase", "software", "precision", "replica_batch", "replicas", "device", "server")
"""what runs are called by, as far as it tells them apart"""
WIDE = 4
"""ratios that are further apart than this are shown on a log axis, where half and double are equally far from 1"""
TEXTS = {
    "title": Text("{measure}: {others} against {base}"),
    "other_runs": Text("{n} runs"),
    "other_groups": Text("{n} groups"),
    "subtitle": Text("dots: ratio · lines: its 95% interval"),
    "x_title": Text("{measure} relative to {base}"),
    "more": Text("{name} has {figure}% more {measure} than {base}"),
    "less": Text("{name} has {figure}% less {measure} than {base}"),
    "times": Text("{name} has {figure} times the {measure} of {base}"),
    "interval": Text("{verdict}: {difference} (95% interval of the ratio {low} to {high})"),
    "no_interval": Text("{verdict}: {difference}; there is no interval to judge it by"),
    "unmistakable": Text(
        "{verdict}: {difference}; there is no interval, but runs of the same thing do not differ by a factor of {factor}"
    ),
    "kinds_of_work": Text("apart: {ratios}"),
    "nothing_shared": Text("{name}: nothing to compare: they have no configuration in common"),
    "no_figure": Text("{name}: no figure"),
    "runs": Text(
        "at least {n} runs on each side: the interval covers what differs from run to run",
        "single runs: the interval covers the steps of a run, not what differs from run to run",
    ),
    "configurations": Text("{n} configurations that both have; {basis}"),
}
VERDICTS = {
    (Change.MORE, "higher"): ComparisonVerdict.FASTER,
    (Change.LESS, "higher"): ComparisonVerdict.SLOWER,
    (Change.MORE, "lower"): ComparisonVerdict.SLOWER,
    (Change.LESS, "lower"): ComparisonVerdict.FASTER,
}


@dataclass(frozen=True)
class Side:
    """One thing that is compared: a run or a named series."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    runs: int
    configurations: int
    run_ids: tuple[str, ...]
    """at most 20"""
    status: str = "ok"


@dataclass(frozen=True)
class Difference:
    """A side against the first one."""

    name: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: ComparisonVerdict
    words: str
    basis: str
    """what the interval rests on"""


@dataclass(frozen=True)
class Comparison:
    view: View
    sides: tuple[Side, ...]
    differences: tuple[Difference, ...]
    """one for each side after the first"""
    differing: tuple[Differing, ...]
    warnings: tuple[ChartWarning, ...] = ()


@dataclass
class Group:
    name: str
    named: frozenset[str] = frozenset()
    """dimensions that the side is defined by"""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """measured runs: id, config, dimensions, value, low, high"""
    failed: list[dict[str, Any]] = field(default_factory=list)
    """runs without a figure"""
    statuses: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def configurations(self) -> int:
        return len({row["config"] for row in self.rows})


def compare(guide: Guide, view: View, margin: float = MARGIN) -> Comparison:
    """view.runs, else view.series; the first is what the others are compared with."""
    snapshot, of = guide.snapshot, measure(view.y)
    if of.name not in STORED_MEASURES:
        raise UsageError(f"compare takes a measure of single runs: {', '.join(STORED_MEASURES)}; got '{of.name}'")
    groups = [_of_run(snapshot, view, name) for name in view.runs] or [
        replace(_of_filters(snapshot, view, s.name, intersection(view.filters, s.filters)), named=frozenset(dict(s.filters)))
        for s in view.series
    ]
    if len(groups) < 2:
        raise UsageError("compare takes at least two runs (run=A,B) or two named series")
    sides = [_side(group) for group in groups]
    differences = [_difference(groups[0], other, of, margin) for other in groups[1:]]
    if all(len(side.run_ids) == 1 and side.runs <= 1 for side in sides):
        differing = between_records([record(snapshot, guide.store, side.run_ids[0]) for side in sides])
    else:
        differing = between_groups([group.rows or group.failed for group in groups])
    return Comparison(view, tuple(sides), tuple(differences), tuple(differing), tuple(_warnings(view, groups)))


def _of_run(snapshot: Snapshot, view: View, name: str) -> Group:
    """By id; a run that was asked for by name counts even if it was contended."""
    select = Select(view)
    group = _filled(snapshot, view, name, f"id = {select.bind(name)}", select)
    if not group.statuses:
        raise unknown_run(snapshot, name)
    return group


def _of_filters(snapshot: Snapshot, view: View, name: str, filters: Any) -> Group:
    select = Select(view)
    where = select.where(filters) + ("" if view.contended else " AND NOT contended")
    return _filled(snapshot, view, name, where, select)


def _filled(snapshot: Snapshot, view: View, name: str, where: str, select: Select) -> Group:
    names = ("id", "config", "status", "verdict", "labels", *CONFIGURING)
    low, high = _ends(view.y)
    columns = ", ".join([*names, view.y, low, high])
    query = f"SELECT {columns} FROM runs WHERE {where} ORDER BY started DESC, id DESC LIMIT {MOST_RUNS}"
    group = Group(name)
    for row in snapshot.ask(query, select.parameters):
        run = dict(zip((*names, "value", "low", "high"), row, strict=True))
        group.statuses[run["status"]] += 1
        if run["status"] == Status.OK and run["value"]:
            group.rows.append(run)
        else:
            group.failed.append(run)
    return group


def _ends(name: str) -> tuple[str, str]:
    if name == "throughput":
        return "ci_low", "ci_high"
    if name == "batch_time_ms":
        return "effective_batch * 1e3 / ci_high", "effective_batch * 1e3 / ci_low"
    return "NULL", "NULL"


def _estimate(rows: Sequence[dict[str, Any]]) -> Estimate:
    if len(rows) == 1:
        return comparison.of_interval(rows[0]["value"], rows[0]["low"], rows[0]["high"])
    return comparison.of_runs([row["value"] for row in rows])


def _side(group: Group) -> Side:
    ids = tuple(row["id"] for row in group.rows or group.failed)[:MOST_IDS]
    if not group.rows:
        status = max(group.statuses, key=lambda s: group.statuses[s], default=NOT_RUN)
        return Side(group.name, None, None, None, 0, 0, ids, "no figure" if status == Status.OK else status)
    if len({_kind_of_work(row) for row in group.rows}) > 1:
        return Side(group.name, None, None, None, len(group.rows), group.configurations, ids, NOT_AVERAGED)
    value, low, high = _value_and_ends(group)
    return Side(group.name, value, low, high, len(group.rows), group.configurations, ids)


def _value_and_ends(group: Group) -> tuple[float, float | None, float | None]:
    """One run has the interval that it has everywhere; several runs of one configuration that of their spread."""
    if len(group.rows) == 1:
        return group.rows[0]["value"], group.rows[0]["low"], group.rows[0]["high"]
    interval = comparison.interval(_estimate(group.rows))
    one = group.configurations == 1
    return interval.value, interval.low if one else None, interval.high if one else None


def _kind_of_work(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[d] for d in KINDS_OF_WORK)


def _difference(first: Group, other: Group, of: Measure, margin: float) -> Difference:
    pairs = list(_pairs(first, other))
    if not pairs:
        words = TEXTS["nothing_shared" if first.rows and other.rows else "no_figure"](name=other.name)
        return Difference(other.name, None, None, None, ComparisonVerdict.NO_FIGURE, words, "")
    ratio = _ratio(pairs)
    by_kind = _ratios_by_kind(pairs)
    changes = {comparison.verdict(each, margin) for each in by_kind.values()}
    change = Change.UNDECIDED if {Change.MORE, Change.LESS} <= changes else comparison.verdict(ratio, margin)
    verdict = VERDICTS.get((change, of.better)) or ComparisonVerdict(change)
    words = _words(other, first, ratio, verdict, of)
    return Difference(other.name, ratio.value, ratio.low, ratio.high, verdict, words, _basis(pairs, by_kind))


Pair = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def _ratio(pairs: Sequence[Pair]) -> comparison.Ratio:
    return comparison.ratio([(_estimate(a), _estimate(b)) for a, b in pairs])


def _ratios_by_kind(pairs: Sequence[Pair]) -> dict[tuple[str, ...], comparison.Ratio]:
    """Of training and inference apart, where both are compared."""
    kinds: dict[tuple[str, ...], list[Pair]] = defaultdict(list)
    for pair in pairs:
        kinds[_kind_of_work(pair[0][0])].append(pair)
    return {kind: _ratio(kinds[kind]) for kind in sorted(kinds)}


def _pairs(first: Group, other: Group) -> Iterable[Pair]:
    """Runs to be held against each other. One configuration on each side: those. Else by what both sides have in common."""
    if not first.rows or not other.rows:
        return
    if first.configurations == other.configurations == 1:
        yield first.rows, other.rows
        return
    named = {*first.named, *other.named}
    shared = [d for d in KEYS if d not in named and not _apart(first.rows, other.rows, d)]
    left, right = _by(first.rows, shared), _by(other.rows, shared)
    yield from ((left[key], right[key]) for key in left if key in right)


def _apart(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]], name: str) -> bool:
    """Whether each side has one value of it, and not the same: then that is what is compared, or comes with it."""
    values, others = {row[name] for row in one}, {row[name] for row in other}
    return len(values) == len(others) == 1 and values != others


def _by(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def _words(other: Group, first: Group, ratio: comparison.Ratio, verdict: ComparisonVerdict, of: Measure) -> str:
    change = 100 * (ratio.value - 1)
    text = "times" if ratio.value >= 2 else "more" if change >= 0 else "less"
    figure = f"{ratio.value:.3g}" if text == "times" else f"{abs(change):.2g}"
    difference = TEXTS[text](name=other.name, figure=figure, measure=of.label, base=first.name)
    if ratio.low is None or ratio.high is None:
        text = "no_interval" if verdict == ComparisonVerdict.UNDECIDED else "unmistakable"
        return TEXTS[text](verdict=verdict, difference=difference, factor=UNMISTAKABLE)
    return TEXTS["interval"](verdict=verdict, difference=difference, low=f"{ratio.low:.4g}", high=f"{ratio.high:.4g}")


def _basis(pairs: Sequence[Pair], by_kind: dict[tuple[str, ...], comparison.Ratio]) -> str:
    fewest = min(len(side) for pair in pairs for side in pair)
    basis = TEXTS["runs"](n=fewest)
    basis = TEXTS["configurations"](n=len(pairs), basis=basis) if len(pairs) > 1 else basis
    if len(by_kind) == 1:
        return basis
    ratios = ", ".join(f"{' '.join(filter(None, kind))} {ratio.value:.4g}" for kind, ratio in by_kind.items())
    return f"{basis}; {TEXTS['kinds_of_work'](ratios=ratios)}"


def _warnings(view: View, groups: Sequence[Group]) -> Iterable[ChartWarning]:
    for group in groups:
        if view.runs and any(row["verdict"] == "contended" for row in group.rows):
            yield warning(WarningCode.SIDE_CONTENDED, name=group.name)
        if group.configurations > 1:
            yield warning(WarningCode.SIDE_CONFIGURATIONS, name=group.name, n=group.configurations)


class CompareKind(Kind[Comparison]):
    texts = TEXTS
    parameters = ("y", "scaling", "contended", "series", "run")
    suffixes = (*CHARTS, "json")
    columns = ("name", "ratio", "low", "high", "verdict")

    def answer(self, guide: Guide, view: View) -> Comparison:
        return compare(guide, view)

    def title(self, answer: Comparison) -> str:
        label, (base, *others) = measure(answer.view.y).label, answer.sides
        many = TEXTS["other_runs" if answer.view.runs else "other_groups"](n=len(others))
        name = others[0].name if len(others) == 1 else many
        return TEXTS["title"](measure=f"{label[0].upper()}{label[1:]}", others=name, base=base.name)

    def subtitle(self, answer: Comparison) -> str:
        return TEXTS["subtitle"]()

    def items(self, answer: Comparison) -> Sequence[Difference]:
        return answer.differences

    def rows(self, answer: Comparison) -> list[dict[str, Any]]:
        return [plain(difference) for difference in answer.differences]

    def template(self) -> Spec:
        """Ratios to the first side, with intervals."""
        y = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 320}}
        x = {"field": "ratio", "type": "quantitative", "title": slot("x_title"),
             "scale": when("wide", {"type": "log", "nice": False, "padding": 20}, {"zero": False, "nice": False, "padding": 20}),
             "axis": {"format": ".3~r", "grid": True, "tickCount": 6}}  # fmt: skip
        colours = {"domain": list(VERDICT_COLOURS), "range": list(VERDICT_COLOURS.values())}
        colour = {"field": "verdict", "type": "nominal", "scale": colours, "legend": {"title": None, "values": slot("present")}}
        interval = {"mark": {"type": "rule", "strokeWidth": 3}, "transform": [{"filter": "isValid(datum.low)"}],
                    "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour}}  # fmt: skip
        point = {"mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                 "transform": [{"filter": "isValid(datum.ratio)"}],
                 "encoding": {"y": y, "x": x, "color": colour, "tooltip": [{"field": "words", "type": "nominal"}]}}  # fmt: skip
        return {**frame(), "width": slot("width"), "height": {"step": 46}, "data": {"values": slot("rows")},
                "layer": [reference("x", 1), when("ends", interval), point]}  # fmt: skip

    def values(self, answer: Comparison) -> dict[str, Any]:
        rows: list[dict[str, Any]] = [
            {"name": d.name, "ratio": d.ratio, "low": d.low, "high": d.high, "verdict": d.verdict, "words": d.words}
            for d in answer.differences
        ]
        ratios = [1.0, *(row[end] for row in rows for end in ("low", "ratio", "high") if row[end])]
        return {
            "wide": max(ratios) > WIDE * min(ratios),
            "rows": rows, "present": list(dict.fromkeys(row["verdict"] for row in rows)), "ends": any(row["low"] for row in rows),
            "x_title": TEXTS["x_title"](measure=measure(answer.view.y).label, base=answer.sides[0].name),
            "heading": self.title(answer), "subtitle": [self.subtitle(answer)],
        }  # fmt: skip

    def size(self, answer: Comparison) -> dict[str, Any]:
        return {"width": 460}


KIND = CompareKind()

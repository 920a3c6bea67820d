"""A View: everything an address of the guide says. Frozen, checked when made from text, the same for the same question.

    View.parse("x=model&y=throughput&group=precision&framework=pytorch,tensorflow")
    view.query()          the canonical query string; View.parse(view.query()) == view, and defaults are left out
    View.of(x="model", filters={"phase": "training"})       from Python

Parameters of the query string:
    view       the kind of view: chart, scaling, coverage, ..., one file each in guide/kinds
    x, y       a dimension, a measure
    group      one to three dimensions, whose values make the series
    series     a named series with filters of its own, `NAME: model=a,b; precision=fp16`; may be repeated
    facet      a dimension: one small chart for each value
    agg        best | min | max | mean | median
    scaling    weak | strong: whether `batch` is the replica batch or the effective batch
    log        x | y | xy
    baseline   a series (or, without series, a value of x): everything is shown relative to it
    range      values of x to show, in that order; or, for numbers and dates, `8..64`
    contended  1: count runs that something else disturbed
    run        an id, or several divided by commas (for view=run and view=compare)
    DIMENSION  a filter: `model=a,b`; `label.NAME=v`; `effective_batch=8..64`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote

from steptime.core.errors import UnknownName, UsageError
from steptime.guide.view import notation
from steptime.guide.view.dimensions import dimension, measure
from steptime.guide.view.notation import Filters

AGGREGATIONS = ("best", "min", "max", "mean", "median")
SCALINGS = ("weak", "strong")
LOGS = ("", "x", "y", "xy")
PARAMETERS = (
    "view", "x", "y", "group", "facet", "agg", "scaling", "log", "baseline", "range", "contended", "series", "run",
)  # fmt: skip
MOST_GROUPS, MOST_SERIES, MOST_RUNS = 3, 20, 50
LONGEST_QUERY = 20_000


@dataclass(frozen=True)
class Series:
    """A line of the chart that a person has named, with filters on top of those of the view."""

    name: str
    filters: Filters = ()

    def text(self) -> str:
        return ": ".join([notation.escaped(self.name), notation.filters_text(self.filters)])

    @staticmethod
    def parse(text: str) -> Series:
        name, *rest = notation.split(text, ":")
        name = notation.plain(notation.trimmed(name))
        if not rest or not name:
            raise UsageError(notation.TEXTS["no_series"](text=text))
        return Series(name, notation.filters_of(":".join(rest)))


@dataclass(frozen=True)
class View:
    kind: str = "chart"
    x: str = "model"
    y: str = "throughput"
    group: tuple[str, ...] = ()
    facet: str = ""
    agg: str = "best"
    scaling: str = "weak"
    log: str = ""
    baseline: str = ""
    range: tuple[str, ...] = ()
    contended: bool = False
    series: tuple[Series, ...] = ()
    filters: Filters = ()
    runs: tuple[str, ...] = ()

    def query(self) -> str:
        """The canonical query string."""
        return "&".join(f"{quote(key, safe=_KEY_SAFE)}={quote(value, safe=_VALUE_SAFE)}" for key, value in pairs(self))

    @staticmethod
    def parse(query: str) -> View:
        """From a query string; a UsageError says in one line what is wrong with it."""
        if len(query) > LONGEST_QUERY:
            raise UsageError(f"an address of more than {LONGEST_QUERY} characters is not a view")
        try:
            parameters = parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=200, errors="strict")
        except (ValueError, UnicodeDecodeError) as problem:
            raise UsageError(f"not a query string: {problem}") from None
        return from_pairs(parameters)

    @staticmethod
    def of(
        filters: Mapping[str, str | int | Iterable[str | int]] | None = None,
        series: Mapping[str, Mapping[str, str | int | Iterable[str | int]]] | None = None,
        group: str | Iterable[str] = (),
        range: str | Iterable[str | int] = (),  # noqa: A002 - the parameter's name
        runs: Iterable[str] = (),
        contended: bool = False,
        **texts: str,
    ) -> View:
        """From Python values: filters={"phase": "training", "batch": [32, 64]}, series={"mine": {"server": "a"}}."""
        for key in texts:
            if key not in _TEXTS:
                raise UnknownName("argument", key, (*_TEXTS, "filters", "series", "group", "range", "runs", "contended"))
        return checked(
            View(
                filters=_filters(filters or {}),
                series=tuple(Series(name, _filters(own)) for name, own in (series or {}).items()),
                group=_strings(group),
                range=_strings(range),
                runs=tuple(runs),
                contended=contended,
                **texts,
            )
        )

    def but(self, **changes: object) -> View:
        """The same with some fields changed, checked."""
        return checked(replace(self, **changes))  # type: ignore[arg-type]

    def resolved(self, name: str) -> str:
        """The column a dimension stands for: `batch` depends on the scaling."""
        if name == "batch":
            return "effective_batch" if self.scaling == "strong" else "replica_batch"
        return name


_KEY_SAFE = ".:/-_"
_VALUE_SAFE = ",:;=()/-_.~ "
_TEXTS = ("kind", "x", "y", "facet", "agg", "scaling", "log", "baseline")


def pairs(view: View) -> list[tuple[str, str]]:
    """Parameters and their text in canonical order; what has its default value is left out."""
    plain = View()
    parameters = [
        (key, text)
        for key, text, default in (
            ("view", view.kind, plain.kind),
            ("x", view.x, plain.x),
            ("y", view.y, plain.y),
            ("group", ",".join(view.group), ""),
            ("facet", view.facet, ""),
            ("agg", view.agg, plain.agg),
            ("scaling", view.scaling, plain.scaling),
            ("log", view.log, ""),
            ("baseline", view.baseline, ""),
            ("range", notation.value_text(view.range), ""),
            ("contended", "1" if view.contended else "", ""),
        )
        if text != default
    ]
    parameters += [("series", series.text()) for series in view.series]
    parameters += [(key, notation.value_text(values)) for key, values in view.filters]
    return parameters + ([("run", notation.value_text(view.runs))] if view.runs else [])


def from_pairs(parameters: Iterable[tuple[str, str]]) -> View:
    """The inverse of `pairs`, in any order; filters and series may be repeated, other parameters may not."""
    once: dict[str, str] = {}
    series: list[Series] = []
    filters: list[tuple[str, tuple[str, ...]]] = []
    for key, text in parameters:
        if key == "series":
            series.append(Series.parse(text))
        elif key in PARAMETERS:
            if key in once:
                raise UsageError(f"'{key}' is given twice")
            once[key] = text
        elif _is_dimension(key):
            filters.append((key, notation.filter_values(key, text, divider="&")))
    if once.get("contended", "") not in ("", "0", "1"):
        raise UsageError(f"contended is 0 or 1; got '{once['contended']}'")
    plain = View()
    return checked(
        View(
            kind=once.get("view", plain.kind),
            x=once.get("x", plain.x),
            y=once.get("y", plain.y),
            group=tuple(v for v in once.get("group", "").split(",") if v),
            facet=once.get("facet", ""),
            agg=once.get("agg", plain.agg),
            scaling=once.get("scaling", plain.scaling),
            log=once.get("log", ""),
            baseline=once.get("baseline", ""),
            range=notation.values_of(once["range"]) if once.get("range") else (),
            contended=once.get("contended") == "1",
            series=tuple(series),
            filters=notation.canonical(filters),
            runs=notation.values_of(once["run"]) if once.get("run") else (),
        )
    )


def _is_dimension(key: str) -> bool:
    try:
        dimension(key)
    except UnknownName as problem:
        raise UnknownName("parameter", key, problem.known) from None
    return True


def checked(view: View) -> View:
    """The view in canonical form, or one line that says what is wrong with it."""
    from steptime.guide.kinds.base import kind  # late, since kinds work with views

    view = replace(view, **kind(view.kind).fixed)  # type: ignore[arg-type]
    for what, value, known in (
        ("aggregation", view.agg, AGGREGATIONS),
        ("scaling", view.scaling, SCALINGS),
        ("log axis", view.log, LOGS[1:]),
    ):
        if value not in known and (value or what != "log axis"):
            raise UnknownName(what, value, known)
    measure(view.y)
    for name in (view.x, *view.group, *([view.facet] if view.facet else [])):
        dimension(name)
    if len(set(view.group)) != len(view.group) or len(view.group) > MOST_GROUPS:
        raise UsageError(f"group takes one to {MOST_GROUPS} different dimensions; got '{','.join(view.group)}'")
    names = [series.name for series in view.series]
    if len(set(names)) != len(names) or len(names) > MOST_SERIES or not all(n and n == n.strip() for n in names):
        raise UsageError(f"series need different names, and at most {MOST_SERIES} of them; got '{', '.join(names)}'")
    if "" in view.runs or len(view.runs) > MOST_RUNS:
        raise UsageError(f"run takes ids, at most {MOST_RUNS} of them; got '{','.join(view.runs)}'"[:300])
    return replace(
        view,
        range=_range(view),
        series=tuple(Series(s.name, notation.canonical(s.filters)) for s in view.series),
        filters=notation.canonical(view.filters),
    )


def _range(view: View) -> tuple[str, ...]:
    of = dimension(view.x)
    values = () if view.range == ("",) else notation.checked(of, view.range)  # an empty parameter is none
    if len(values) > 1 and any(notation.ends(of, v) for v in values):
        raise UsageError(f"range is either one 'LOW..HIGH' or a list of values; got '{','.join(values)}'")
    return values


def _filters(mapping: Mapping[str, str | int | Iterable[str | int]]) -> Filters:
    return notation.canonical((key, _strings(values)) for key, values in mapping.items())


def _strings(values: str | int | Iterable[str | int]) -> tuple[str, ...]:
    return (str(values),) if isinstance(values, (str, int)) else tuple(map(str, values))

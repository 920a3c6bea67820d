"""`steptime chart`: chart the records, as a table or a picture."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option

HINTS = {"different": "; --alike adds such filters"}
"""what the terminal says beside a warning, by its code"""


@click.command("chart")
@click.option("--x", default="model", show_default=True, help="Dimension of the horizontal axis; label.NAME is a label.")
@click.option("--y", default="throughput", show_default=True, help="Measure: throughput, batch_time_ms, p95_ms, efficiency, ...")
@click.option("--group", default="", metavar="D,..", help="Up to three dimensions whose values make the series.")
@click.option("--filter", "-f", "filters", multiple=True, metavar="D=V,..", help="Only runs with these values; 8..64 is a range.")
@click.option("--series", "-s", multiple=True, metavar="'NAME: D=V,..; D=V'", help="A named series with its own filters.")
@click.option("--facet", default="", metavar="D", help="One small chart per value of this dimension.")
@click.option("--agg", default="best", show_default=True, help="How runs are combined: best, min, max, mean or median.")
@click.option(
    "--scaling", default="weak", show_default=True, help="weak: batch means the replica batch; strong: the effective one."
)
@click.option("--log", default="", metavar="x|y|xy", help="Logarithmic axes.")
@click.option("--baseline", default="", metavar="SERIES", help="Show everything relative to this series or value of x.")
@click.option("--range", "limits", default="", metavar="V,..|LOW..HIGH", help="The values of x to show.")
@click.option("--contended", is_flag=True, help="Include contended runs, which other processes disturbed.")
@click.option("--alike", is_flag=True, help="Add the filters that leave points which differ in nothing but what is shown.")
@click.option("--view", "kind", default="chart", show_default=True, help="chart, scaling, coverage or runs.")
@click.option("--url", default="", metavar="ADDRESS", help="Take the view from an address of the guide.")
@click.option("--theme", default="light", show_default=True, help="light or dark.")
@click.option("--output", "-o", default="", metavar="FILE", help="Write .svg, .png, .pdf, .csv, .json or .vl.json.")
@json_option
@store_option
def command(output: str, theme: str, as_json: bool, store_path: str | None, url: str, alike: bool, **options: Any) -> int:
    """Chart the records: choose axes, filter, group, compare.

    Prints a table of the points; with -o, writes a picture or the data instead.
    """
    from steptime.guide.charts.theme import theme as known_theme
    from steptime.guide.engine import Guide
    from steptime.guide.kinds.base import kind
    from steptime.guide.query.results import plain
    from steptime.guide.sharing.export import suffix_of
    from steptime.guide.sharing.notebook import Drawn
    from steptime.guide.view.view import View

    view = View.parse(url.rpartition("?")[2]) if url else _view(**options)
    suffix = suffix_of(output) if output else ""
    known_theme(theme)
    guide = Guide(open_store(store_path))
    guide.refresh()
    for damaged in guide.damaged:
        print(f"steptime: {damaged.path}: {damaged.reason}", file=sys.stderr)
    if alike:
        view = _alike(guide, view)
    answer = guide.answer(view)
    if suffix:
        Drawn(answer).save(output, theme)
    elif as_json:
        for item in kind(view.kind).items(answer):
            print(json.dumps(plain(item)))
    else:
        _print(answer, guide.size)
    for warning in getattr(answer, "warnings", ()):
        print(f"steptime: {warning}{HINTS.get(warning.code, '')}", file=sys.stderr)
    return 0


def _alike(guide: Any, view: Any) -> Any:
    from steptime.guide.view.notation import filters_text

    narrowed = guide.alike(view)
    added = tuple(item for item in narrowed.filters if item not in view.filters)
    print(f"steptime: like with like: {filters_text(added) or 'the points differ in nothing else'}", file=sys.stderr)
    return narrowed


def _view(**options: Any) -> Any:
    from steptime.guide.view import notation
    from steptime.guide.view.view import Series, View, checked

    return checked(
        View(
            kind=options["kind"],
            x=options["x"],
            y=options["y"],
            group=tuple(v.strip() for v in options["group"].split(",") if v.strip()),
            facet=options["facet"],
            agg=options["agg"],
            scaling=options["scaling"],
            log=options["log"],
            baseline=options["baseline"],
            range=notation.values_of(options["limits"]) if options["limits"] else (),
            contended=options["contended"],
            series=tuple(Series.parse(text) for text in options["series"]),
            filters=notation.filters_of(*options["filters"]),
        )
    )


def _print(answer: Any, size: int) -> None:
    from steptime.cli.printing import table
    from steptime.guide.kinds.base import kind_of
    from steptime.guide.query.configurations import configuration_text

    kind = kind_of(answer)
    rows = kind.rows(answer)
    if shared := getattr(answer, "shared", None):
        rows = [{**row, "configuration": configuration_text(p.configuration)} for row, p in zip(rows, answer.points, strict=True)]
    if not rows:
        print("no records: `steptime run` makes some" if not size else "no run passes the filters", file=sys.stderr)
        return
    columns = [name for name in kind.columns if any(row[name] not in (None, "", 0, {}) for row in rows)]
    print(table(columns, [[_cell(row[name]) for name in columns] for row in rows]))
    for mean in getattr(answer, "means", ()):
        name = ", ".join(filter(None, [mean.facet, mean.series]))
        print(f"geometric mean: {name} {mean.value:.3g} over {mean.n} of {mean.of}")
    if shared and configuration_text(shared):
        print(f"all points: {configuration_text(shared)}")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
    return "" if value is None else str(value)

"""`steptime compare`: compare runs, or groups of runs."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.core.errors import UnknownName, UsageError
from steptime.core.schema import ComparisonVerdict


@click.command("compare")
@click.argument("sides", metavar="A B...", nargs=-1, required=True)
@click.option("--y", default="throughput", show_default=True, help="Measure: throughput, batch_time_ms, p95_ms, peak_bytes, ...")
@click.option("--filter", "-f", "filters", multiple=True, metavar="D=V,..", help="Only runs with these values, on all sides.")
@click.option("--margin", default="2%", show_default=True, help="Differences within this margin count as the same.")
@click.option(
    "--fail-on", default="", metavar="VERDICT,..", help="Exit with 1 if one of these verdicts occurs: slower,undecided."
)
@click.option("--contended", is_flag=True, help="Include contended runs, which other processes disturbed.")
@click.option("--output", "-o", default="", metavar="FILE", help="Write .svg, .png, .pdf, .json or .vl.json.")
@json_option
@store_option
def command(
    sides: tuple[str, ...], y: str, filters: tuple[str, ...], margin: str, fail_on: str, contended: bool, output: str,
    as_json: bool, store_path: str | None,
) -> int:  # fmt: skip
    """Compare runs, or groups of runs, with the first of them.

    A and B are ids of runs (or `last`), or filters such as 'framework=PyTorch; precision=fp32', which may have a name in
    front: 'torch: framework=PyTorch'.
    """
    from steptime.guide.engine import Guide
    from steptime.guide.kinds.compare import compare
    from steptime.guide.query.results import plain
    from steptime.guide.sharing.export import suffix_of
    from steptime.guide.sharing.notebook import Drawn

    failing = [verdict for verdict in (part.strip() for part in fail_on.split(",")) if verdict]
    for verdict in failing:
        if verdict not in list(ComparisonVerdict):
            raise UnknownName("verdict", verdict, list(ComparisonVerdict))
    if output:
        suffix_of(output)
    store = open_store(store_path)
    view = _view(store, sides, y, filters, contended)
    guide = Guide(store)
    guide.refresh()
    comparison = compare(guide, view, _margin(margin))
    if output:
        Drawn(comparison).save(output)
    if as_json:
        print(json.dumps(plain(comparison)))
    elif not output:
        _print(comparison)
    return 1 if any(difference.verdict in failing for difference in comparison.differences) else 0


def _view(store: Any, sides: tuple[str, ...], y: str, filters: tuple[str, ...], contended: bool) -> Any:
    from steptime.guide.view import notation
    from steptime.guide.view.view import Series, View, checked
    from steptime.store.lookup import find

    if len(sides) < 2:
        raise UsageError("compare takes two or more runs or filters; `steptime list` shows ids")
    are_filters = ["=" in side for side in sides]
    if any(are_filters) and not all(are_filters):
        raise UsageError("compare takes either ids of runs or filters (DIMENSION=VALUE), not both at once")
    common = notation.filters_of(*filters)
    if not are_filters[0]:
        runs = tuple(find(store, side).id for side in sides)
        return checked(View(kind="compare", y=y, runs=runs, filters=common, contended=contended))
    series = tuple(
        Series.parse(side)
        if len(notation.split(side.partition("=")[0], ":")) > 1
        else Series(side.strip(), notation.filters_of(side))
        for side in sides
    )
    return checked(View(kind="compare", y=y, series=series, filters=common, contended=contended))


def _margin(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise UsageError(f"--margin takes a share, such as 2% or 0.02; got '{text}'")
    return value


def _print(comparison: Any) -> None:
    from steptime.cli.printing import table
    from steptime.guide.charts.theme import format_value, status_label
    from steptime.guide.view.dimensions import measure

    compared = measure(comparison.view.y)
    header = (
        "",
        f"{compared.label}{f' ({compared.unit})' if compared.unit and compared.form == 'number' else ''}",
        "95% interval",
        "runs",
        "ratio",
        "verdict",
    )
    differences = [None, *comparison.differences]
    lines = []
    for side, difference in zip(comparison.sides, differences, strict=True):
        value = format_value(side.value, compared) if side.value is not None else status_label(side.status)
        interval = f"{format_value(side.low, compared)} to {format_value(side.high, compared)}" if side.low is not None else ""
        ratio = f"{difference.ratio:.4g}" if difference and difference.ratio else ""
        lines.append([side.name, value, interval, str(side.runs), ratio, difference.verdict if difference else "baseline"])
    print(table(header, lines))
    for difference in comparison.differences:
        print(f"\n{difference.words}" + (f"\n  {difference.basis}" if difference.basis else ""))
    if comparison.differing:
        print("\nwhat differs")
        rows = [[d.section, d.name, *d.values] for d in comparison.differing]
        print(table(("", "", *(side.name for side in comparison.sides)), rows))
    for warning in comparison.warnings:
        print(f"steptime: {warning}", file=sys.stderr)

"""How charts look: colours that colour-blind readers can tell apart, light and dark, and how figures are written."""

from __future__ import annotations

from typing import Any

from steptime.core.errors import UnknownName
from steptime.core.schema import ComparisonVerdict
from steptime.guide.charts.spec_template import Spec
from steptime.guide.view.dimensions import Measure

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""JupyterLab shows v5; later renderers read it too"""
FONT = '"Inter", ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif'
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""seven for eight colours, so that no pair of them comes again before the 57th series"""

LIGHT = {
    "background": "#ffffff", "text": "#12161f", "quiet": "#626c7d", "grid": "#e2e5eb", "bad": "#b3261e", "rule": "#12161f",
    "series": ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6a51a3", "#8c8c8c"),
}  # fmt: skip
DARK = {
    "background": "#141820", "text": "#eaedf3", "quiet": "#939dae", "grid": "#242a35", "bad": "#ff8f86", "rule": "#eaedf3",
    "series": ("#4aa8e0", "#f2b63d", "#2fc39a", "#e39ac5", "#8fd0f5", "#ff8a4d", "#b39ddb", "#a8a8a8"),
}  # fmt: skip
THEMES: dict[str, dict[str, Any]] = {"light": LIGHT, "dark": DARK}
STATUS_COLOURS = {
    "ok": "#009e73", "noisy": "#56b4e9", "contended": "#e69f00", "not run": "#9aa4b2", "unsupported": "#8c8c8c",
    "out_of_memory": "#d55e00",
}  # fmt: skip
OTHER_FAILURE = "#b3261e"


def theme(name: str) -> dict[str, Any]:
    if name not in THEMES:
        raise UnknownName("theme", name, THEMES)
    return THEMES[name]


def config(name: str) -> Spec:
    """Vega-Lite's configuration of a theme."""
    colours = theme(name)
    text = {"labelColor": colours["quiet"], "titleColor": colours["text"], "labelFontSize": 12, "titleFontSize": 12,
            "labelFontWeight": 400}  # fmt: skip
    return {
        "background": colours["background"],
        "font": FONT,
        "padding": 16,
        "view": {"stroke": None},
        "title": {
            "color": colours["text"], "fontSize": 17, "fontWeight": 600, "anchor": "start", "frame": "group", "offset": 14,
            "subtitleColor": colours["quiet"], "subtitleFontSize": 12.5, "subtitlePadding": 5,
        },
        "axis": {
            **text, "titleFontWeight": 500, "titlePadding": 10, "labelPadding": 6, "gridColor": colours["grid"],
            "domainColor": colours["quiet"], "tickColor": colours["grid"], "labelLimit": 220, "titleLimit": 600,
        },
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False},
        "legend": {**text, "titleFontWeight": 500, "labelLimit": 260, "symbolSize": 90, "orient": "top", "offset": 8},
        "header": {**text, "labelColor": colours["text"]},
        "text": {"fontWeight": 400},
        "range": {"category": list(colours["series"])},
    }  # fmt: skip


def theme_values(name: str) -> dict[str, Any]:
    """What a theme puts into a template."""
    colours = theme(name)
    return {"config": config(name), **{part: colours[part] for part in ("background", "text", "quiet", "bad", "rule")},
            "first": colours["series"][0], "second": colours["series"][1]}  # fmt: skip


def format_expression(field: str, form: str) -> str:
    """A figure as people write it, three digits and the unit where it is short: an expression for Vega."""
    v = f"datum.{field}"
    digits = "format({0}, abs({0}) >= 1e7 ? '.3~g' : abs({0}) >= 1000 ? ',.0f' : abs({0}) >= 0.001 ? '.3~r' : '.3~g')"
    if form == "percent":
        words = f"format(100 * {v}, '.3~r') + '%'"
    elif form == "bytes":
        sizes = [(1e3, "B"), (1e6, "kB"), (1e9, "MB"), (1e12, "GB")]
        steps = [f"{v} < {0.9995 * size:.6g} ? format({v} / {size / 1e3:.0f}, '.3~r') + ' {unit}'" for size, unit in sizes]
        words = f"{' : '.join(steps)} : format({v} / 1e12, '.3~r') + ' TB'"
    else:
        words = digits.format(v) + (" + '×'" if form == "ratio" else "")
    return f"isValid({v}) ? ({words}) : null"


def format_value(value: float, of: Measure) -> str:
    """The same for the terminal."""
    if of.form == "percent":
        return f"{100 * value:.3g}%"
    if of.form == "bytes":
        return format_bytes(value)
    digits = f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"
    return f"{digits}×" if of.form == "ratio" else digits


def format_bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(count) < 999.5 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def status_label(status: str) -> str:
    return status.replace("_", " ")


def status_colour(status: str) -> str:
    return STATUS_COLOURS.get(status, OTHER_FAILURE)


VERDICT_COLOURS = {
    ComparisonVerdict.FASTER: "#009e73",
    ComparisonVerdict.SLOWER: "#d55e00",
    ComparisonVerdict.SAME: "#56b4e9",
    ComparisonVerdict.UNDECIDED: "#9aa4b2",
    ComparisonVerdict.NO_FIGURE: "#9aa4b2",
}

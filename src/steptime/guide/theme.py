"""How charts look: colours that colour-blind readers tell apart, light and dark, and the ways in which figures are written."""

from __future__ import annotations

from typing import Any

from steptime.errors import UnknownName
from steptime.guide.dimensions import Measure

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""JupyterLab shows v5; later renderers read it too"""
FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif'
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
Spec = dict[str, Any]

LIGHT = {
    "background": "#ffffff", "text": "#1b2330", "quiet": "#5c6675", "grid": "#e6e9ee", "bad": "#b3261e", "rule": "#1b2330",
    "series": ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6a51a3", "#8c8c8c"),
}  # fmt: skip
DARK = {
    "background": "#12161d", "text": "#e8ebf0", "quiet": "#9aa4b2", "grid": "#29303b", "bad": "#ff8a80", "rule": "#e8ebf0",
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
    text = {"labelColor": colours["quiet"], "titleColor": colours["text"], "labelFontSize": 12, "titleFontSize": 12}
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
        "header": text,
        "range": {"category": list(colours["series"])},
    }  # fmt: skip


def number_format(of: Measure, relative: bool, most: float) -> str:
    """d3's, for axes on which `most` is the largest figure."""
    if relative or of.form == "ratio":
        return ".3~f"
    if of.form == "percent":
        return ".0%"
    return "~s" if most >= 10_000 else ",~r"


def shown(value: float, of: Measure, relative: bool = False) -> str:
    """A figure as people write it: three digits, and the unit where it is short."""
    if relative:
        return f"{_digits(value)}×"
    if of.form == "percent":
        return f"{100 * value:.3g}%"
    if of.form == "bytes":
        return sized(value)
    return f"{_digits(value)}×" if of.form == "ratio" else _digits(value)


def _digits(value: float) -> str:
    if value == 0 or 0.001 <= abs(value) < 1000:
        return f"{value:.3g}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def sized(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(count) < 999.5 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def status_words(status: str) -> str:
    return status.replace("_", " ")


def status_colour(status: str) -> str:
    return STATUS_COLOURS.get(status, OTHER_FAILURE)

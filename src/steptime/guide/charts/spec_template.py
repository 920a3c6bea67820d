"""Specifications with holes: Python writes each kind of chart once, as a form, and whoever has an answer fills it in.

Command line, files and notebooks fill forms here; the guide's server sends them filled but for size and theme, which are
the reader's; the single-file report carries the forms and fills them by the same rules (web/fill.js). So a chart is
described in one place and drawn in four.

A form is plain JSON in which {"$": NAME} stands for a value and {"$if": NAME, "then": .., "else": ..} for a choice;
where the side that is chosen is missing, nothing is left, neither key nor element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = dict[str, Any]
NOTHING = object()


def hole(name: str) -> Spec:
    return {"$": name}


def when(name: str, then: Any, otherwise: Any = NOTHING) -> Spec:
    return {"$if": name, "then": then} if otherwise is NOTHING else {"$if": name, "then": then, "else": otherwise}


def unless(name: str, otherwise: Any) -> Spec:
    return {"$if": name, "else": otherwise}


def fill(form: Any, values: Mapping[str, Any]) -> Any:
    """The form with these values in it. Holes that they do not name stay open, for somebody else to fill."""
    if isinstance(form, list):
        return [part for part in (fill(part, values) for part in form) if part is not NOTHING]
    if not isinstance(form, dict):
        return form
    if "$" in form:
        return values.get(form["$"], form)
    if "$if" in form and form["$if"] in values:
        return fill(form.get("then" if values[form["$if"]] else "else", NOTHING), values)
    return {key: filled for key, part in form.items() if (filled := fill(part, values)) is not NOTHING}

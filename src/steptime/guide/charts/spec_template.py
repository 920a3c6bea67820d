"""Templates of Vega-Lite specifications: each chart is written once, in Python, with slots for what an answer says.

Command line, files and notebooks fill templates here; the server fills all but size and theme, which are the reader's; the
single-file report carries the templates and fills them by the same rules (web/fill.js). So a chart is described in one
place and drawn in four.

A template is plain JSON in which {"$": NAME} stands for a value and {"$if": NAME, "then": .., "else": ..} for a choice;
if the chosen branch is missing, neither key nor element is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = dict[str, Any]
NOTHING = object()


def slot(name: str) -> Spec:
    return {"$": name}


def when(name: str, then: Any, otherwise: Any = NOTHING) -> Spec:
    return {"$if": name, "then": then} if otherwise is NOTHING else {"$if": name, "then": then, "else": otherwise}


def unless(name: str, otherwise: Any) -> Spec:
    return {"$if": name, "else": otherwise}


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with these values. Slots that they do not name stay, to be filled later."""
    if isinstance(template, list):
        return [part for part in (fill(part, values) for part in template) if part is not NOTHING]
    if not isinstance(template, dict):
        return template
    if "$" in template:
        return values.get(template["$"], template)
    if "$if" in template and template["$if"] in values:
        return fill(template.get("then" if values[template["$if"]] else "else", NOTHING), values)
    return {key: filled for key, part in template.items() if (filled := fill(part, values)) is not NOTHING}

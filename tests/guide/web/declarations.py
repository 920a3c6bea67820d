"""What TypeScript is told of the data that Python gives to the scripts: `python -m tests.guide.web.declarations FOLDER`.

The types of answers are made from the dataclasses, so that a script that reads a field which is not there is refused. They are
global, and need no import. The modules that the server makes are written as they are.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from steptime.core.schema.enums import Word
from steptime.guide.kinds.base import names
from steptime.guide.query import differing, results, warning_codes
from steptime.guide.view.dimensions import Dimension, Measure
from steptime.guide.view.view import Series, View
from steptime.guide.web import assets

SCALARS = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def declared() -> list[type]:
    """Those of all answers: what kinds share, and what each has of its own."""
    modules = [results, differing, warning_codes, *(importlib.import_module(f"steptime.guide.kinds.{name}") for name in names())]
    own = {c for module in modules for c in vars(module).values() if getattr(c, "__module__", "") == module.__name__}
    answers = {c for c in own if isinstance(c, type) and is_dataclass(c)}
    return sorted({Series, View, Dimension, Measure, *answers}, key=lambda c: c.__name__)


def script_type(hint: Any) -> str:
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    inner = [script_type(a) for a in arguments if a is not ...]
    if origin in (types.UnionType, Union):
        return " | ".join(inner)
    if origin in (tuple, list, Sequence):
        return f"({inner[0]})[]" if origin is not tuple or ... in arguments else f"[{', '.join(inner)}]"
    if origin is dict:
        return f"Record<{', '.join(inner)}>"
    if isinstance(origin, type) and issubclass(origin, Word):
        return "string"
    return origin.__name__ if is_dataclass(origin) else SCALARS.get(origin, "any")


def interface(of: type) -> Iterator[str]:
    hints = get_type_hints(of)
    yield f"interface {of.__name__} {{"
    yield from (f"  {f.name}: {script_type(hints[f.name])};" for f in fields(of))
    yield "}"


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.js"):
        old.unlink()
    lines = (line for of in declared() for line in interface(of))
    (folder / "answers.d.ts").write_text("\n".join(lines) + "\n")
    for name in assets.GENERATED:
        (folder / name).write_text(assets.text(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

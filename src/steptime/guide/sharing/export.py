"""An answer as a file: picture, specification, table or data. The suffix decides."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from steptime.core.errors import SetupError, UnknownName, UsageError
from steptime.guide.engine import Guide
from steptime.guide.kinds.base import CHARTS, PICTURES, TABLES, Kind, kind_of
from steptime.guide.query.results import plain
from steptime.guide.view.view import View

SUFFIXES = (*CHARTS, *TABLES)
PNG_SCALE = 2.0
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "vl.json": "application/json",
}
"""of the files that the server gives out"""


def suffix_of(path: str) -> str:
    name = path.rpartition("/")[2]
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(f".{suffix}"):
            return suffix
    raise UnknownName("kind of file", name.partition(".")[2] or name, SUFFIXES)


def rendered(answer: Any, suffix: str, theme: str = "light") -> bytes:
    """An answer as the content of a file."""
    kind = kind_of(answer)
    if suffix not in kind.suffixes:
        known = ", ".join(f".{known}" for known in kind.suffixes)
        raise UsageError(f"view={answer.view.kind} cannot be saved as .{suffix}; it can as {known}")
    if suffix == "json":
        return _json(plain(answer))
    if suffix == "csv":
        return _csv(kind, answer)
    spec = kind.spec(answer, theme)
    return _json(spec) if suffix == "vl.json" else picture(spec, suffix)


def file_of(guide: Guide, view: View, suffix: str) -> bytes:
    """A view as a file, made on behalf of somebody else."""
    answer = guide.answer(view)
    if suffix in PICTURES and (reason := kind_of(answer).too_large(answer)):
        raise UsageError(reason)
    return rendered(answer, suffix)


def picture(spec: dict[str, Any], suffix: str) -> bytes:
    """Drawn without a browser. Imported late: the renderer is large."""
    try:
        import vl_convert
    except ImportError:
        raise SetupError(
            "pictures need vl-convert-python: pip install 'steptime[charts]'; .vl.json and .csv need nothing"
        ) from None
    if suffix == "svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    if suffix == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=PNG_SCALE))
    return bytes(vl_convert.vegalite_to_pdf(spec))


def _csv(kind: Kind[Any], answer: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(kind.columns)
    for row in kind.rows(answer):
        values = (row[name] for name in kind.columns)
        writer.writerow([json.dumps(value) if isinstance(value, dict) else value for value in values])
    return text.getvalue().encode()


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()

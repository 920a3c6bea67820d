"""An answer as a file: picture, table or data. The suffix decides."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from steptime.core.errors import SetupError, UnknownName
from steptime.guide.query.results import Coverage, Result, RunList, Scaling, plain
from steptime.store.rows import COLUMNS

PICTURES = ("svg", "png", "pdf")
SUFFIXES = (*PICTURES, "csv", "json", "vl.json")
POINT_COLUMNS = ("facet", "series", "x", "value", "low", "high", "runs", "configurations", "status", "contended")
PNG_SCALE = 2.0


def suffix_of(path: str) -> str:
    name = path.rpartition("/")[2]
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(f".{suffix}"):
            return suffix
    raise UnknownName("kind of file", name.partition(".")[2] or name, SUFFIXES)


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


def table(answer: Result | Scaling | Coverage | RunList) -> tuple[Sequence[str], list[list[Any]]]:
    """Header and rows of any answer; a missing figure is None, never 0."""
    if isinstance(answer, Result):
        return POINT_COLUMNS, [[getattr(p, name) for name in POINT_COLUMNS] for p in answer.points]
    if isinstance(answer, Scaling):
        header = ("series", "batch", "devices", "throughput", "low", "high", "ideal", "speedup", "efficiency", "runs", "status")
        return header, [
            [line.series, line.batch, *(getattr(p, name) for name in header[2:])] for line in answer.lines for p in line.points
        ]
    if isinstance(answer, Coverage):
        return ("row", "x", "status", "runs"), [[c.row, c.x, c.status, c.runs] for c in answer.cells]
    return COLUMNS, [[row[name] for name in COLUMNS] for row in answer.rows]


def csv_text(answer: Result | Scaling | Coverage | RunList) -> str:
    header, lines = table(answer)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([json.dumps(v) if isinstance(v, dict) else v for v in line] for line in lines)
    return text.getvalue()


def json_text(answer: Any) -> str:
    return json.dumps(plain(answer), indent=1, allow_nan=False) + "\n"


def spec_text(spec: dict[str, Any]) -> str:
    return json.dumps(spec, indent=1, allow_nan=False) + "\n"

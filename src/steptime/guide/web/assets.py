"""What the browser is given besides data: one page, one stylesheet, one script, the Vega bundle.

The script is written as small ES modules and joined here into one, so that page and single-file report run the very same
text and neither needs a build step. Four of the modules are generated: the themes, the templates of charts that the report
fills, the facts that Python and the scripts share, and the table of the kinds of view in kinds/.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from posixpath import dirname, join, normpath
from typing import Any

from steptime.guide.charts import steps
from steptime.guide.charts.chart_template import LONGEST_NAME
from steptime.guide.charts.theme import THEMES, theme_values
from steptime.guide.kinds import chart, compare
from steptime.guide.kinds.base import kind, names
from steptime.guide.query import warnings
from steptime.guide.web import vega
from steptime.guide.web.facts import facts

IMPORT = re.compile(r'^import \{[^}]*\} from "(\.\.?/[\w/]+)\.js";\n', re.M)
EXPORT = re.compile(r"^export (?=async |function |const |let |class )", re.M)


@dataclass(frozen=True)
class Asset:
    content_type: str
    gzipped: bytes

    @property
    def plain(self) -> bytes:
        return gzip.decompress(self.gzipped)

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.gzipped).hexdigest()[:20]}"'


def themes() -> dict[str, Any]:
    """What each theme puts into charts; `palette` also colours the names of series elsewhere on the page."""
    return {name: {**theme_values(name), "palette": list(THEMES[name]["series"])} for name in THEMES}


def templates() -> dict[str, Any]:
    """Every kind of chart, and where one way of drawing it gives way to another."""
    return {
        **{name: kind(name).template() for name in names() if "svg" in kind(name).suffixes},
        "steps": steps.steps_template(),
        "histogram": steps.histogram_template(),
        "limits": {
            "bars": chart.MOST_BARS,
            "words": chart.MOST_WORDS,
            "ticks": chart.MOST_TICKS,
            "room": chart.LABEL_ROOM,
            "letter": chart.LETTER,
            "line": chart.LINE_ROOM,
            "name": LONGEST_NAME,
            "names": warnings.MOST_NAMES,
            "wide": compare.WIDE,
        },
    }


def kinds_module() -> str:
    """Every kind of view by its name: kinds/NAME.js exports NAMEKind."""
    imports = "".join(f'import {{ {name}Kind }} from "./kinds/{name}.js";\n' for name in names())
    return f"{imports}\nexport const KINDS = {{ {', '.join(f'{name}: {name}Kind' for name in names())} }};\n"


def _constant(name: str, value: Any) -> str:
    return f"export const {name} = {json.dumps(value, separators=(',', ':'), ensure_ascii=False)};\n"


GENERATED: dict[str, Callable[[], str]] = {
    "themes.js": lambda: _constant("THEMES", themes()),
    "templates.js": lambda: _constant("TEMPLATES", templates()),
    "facts.js": lambda: _constant("FACTS", facts()),
    "kinds.js": kinds_module,
}


def text(name: str) -> str:
    if name in GENERATED:
        return GENERATED[name]()
    return (resources.files("steptime.guide") / "web" / name).read_text(encoding="utf-8")


def imported(name: str) -> list[str]:
    """The modules that a module imports, by their path in web/ without .js."""
    return [normpath(join(dirname(name), target)) for target in IMPORT.findall(text(f"{name}.js"))]


def modules(entry: str) -> Iterator[str]:
    """The modules that an entry needs, each after those it imports."""
    done: set[str] = set()

    def visit(name: str) -> Iterator[str]:
        if name in done:
            return
        done.add(name)
        for other in imported(name):
            yield from visit(other)
        yield name

    return visit(entry)


def script(entry: str) -> str:
    """The modules as one: without imports and exports, in one scope. Names are therefore unique (a test sees to it)."""
    return "\n".join(EXPORT.sub("", IMPORT.sub("", text(f"{name}.js"))) for name in modules(entry))


@cache
def assets() -> dict[str, Asset]:
    """By path. No path of a request is ever a path of the file system: it is looked up here or it does not exist."""

    def asset(content_type: str, content: str) -> Asset:
        return Asset(content_type, gzip.compress(content.encode(), 9, mtime=0))

    return {
        "/static/guide.css": asset("text/css; charset=utf-8", text("guide.css")),
        "/static/guide.js": asset("text/javascript; charset=utf-8", script("page")),
        "/static/mark.svg": asset("image/svg+xml", text("mark.svg")),
        "/static/vega.js": Asset("text/javascript; charset=utf-8", vega.bundle()),
        "/static/notices.txt": asset("text/plain; charset=utf-8", text("NOTICES.txt")),
        "/": asset("text/html; charset=utf-8", text("index.html")),
        "/guide": asset("text/html; charset=utf-8", text("index.html")),
    }

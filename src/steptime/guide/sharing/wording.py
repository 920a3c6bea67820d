"""A view said in other ways: as an address, as a command, as Python."""

from __future__ import annotations

import shlex

from steptime.guide.view import notation
from steptime.guide.view.view import View

FLAGS = (
    ("x", "x"),
    ("y", "y"),
    ("facet", "facet"),
    ("agg", "agg"),
    ("scaling", "scaling"),
    ("log", "log"),
    ("baseline", "baseline"),
)


def as_url(view: View, base: str = "http://127.0.0.1:8000/") -> str:
    query = view.query()
    return f"{base}?{query.replace(' ', '%20')}" if query else base


def as_command(view: View, output: str = "") -> str:
    """The command line that gives the same answer."""
    if view.kind == "compare":
        sides = list(view.runs) or [series.text() for series in view.series]
        words = ["steptime", "compare", *sides, *(["--y", view.y] if view.y != "throughput" else [])]
        return shlex.join([*words, *_filters(view), *(["--contended"] if view.contended else [])])
    if view.kind == "run":
        return shlex.join(["steptime", "show", *view.runs])
    words = ["steptime", "chart"]
    words += ["--view", view.kind] if view.kind != "chart" else []
    plain = View()
    for name, flag in FLAGS:
        value = getattr(view, name)
        if value != getattr(plain, name) or name in ("x", "y"):
            words += [f"--{flag}", value]
    words += ["--group", ",".join(view.group)] if view.group else []
    words += ["--range", notation.value_text(view.range)] if view.range else []
    for series in view.series:
        words += ["--series", series.text()]
    words += _filters(view)
    words += ["--contended"] if view.contended else []
    return shlex.join([*words, *(["-o", output] if output else [])])


def _filters(view: View) -> list[str]:
    return [word for name, values in view.filters for word in ("--filter", f"{name}={notation.value_text(values)}")]


def as_python(view: View, store: str = "steptime-results") -> str:
    """A few lines for a notebook."""
    plain = View()
    arguments = [
        f"{name}={getattr(view, name)!r}"
        for name in ("kind", *(n for n, _ in FLAGS))
        if getattr(view, name) != getattr(plain, name)
    ]
    if view.group:
        arguments.append(f"group={list(view.group)!r}")
    if view.range:
        arguments.append(f"range={list(view.range)!r}")
    if view.contended:
        arguments.append("contended=True")
    if view.filters:
        arguments.append(f"filters={ {name: list(values) for name, values in view.filters}!r}")
    if view.series:
        arguments.append(f"series={ {s.name: {n: list(v) for n, v in s.filters} for s in view.series}!r}")
    if view.runs:
        arguments.append(f"runs={list(view.runs)!r}")
    method = {"scaling": "scaling", "coverage": "coverage", "compare": "compare", "runs": "runs", "run": "runs"}.get(
        view.kind, "chart"
    )
    return f"from steptime import guide\n\nguide.open({store!r}).{method}({', '.join(arguments)})\n"

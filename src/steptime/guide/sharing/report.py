"""One file that holds results and the guide to explore them: no server, no network, opened from anywhere.

Runs are dictionary-coded columns, as JSON, gzipped, in base64; the browser unpacks them and the same page as that of
`steptime guide` asks an engine in JavaScript, which tests hold to the one in Python.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from steptime.core.errors import SteptimeError
from steptime.core.schema import Status
from steptime.guide.charts import steps
from steptime.guide.engine import Guide
from steptime.guide.kinds.run import without_steps
from steptime.guide.query.filter_sql import matches
from steptime.guide.query.logs import log_of
from steptime.guide.view.dimensions import LABEL_PREFIX, dimension
from steptime.guide.view.notation import Filters
from steptime.guide.web import assets, vega
from steptime.plan.repeat import repeat_command

Column = dict[str, Any] | list[Any]
DIGITS = 6
"""significant digits of figures: more than any interval supports"""

MOST_STEPS = 200
"""steps of a run that are kept for its chart"""

LOG_CHARACTERS, LOGS_CHARACTERS = 4000, 400_000
"""of the log of one failed run, and of all of them together"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the chart</a>
<header id="top"></header>
<div id="app"><p class="starting">Unpacking the results…</p></div>
<div id="overlay"></div>
<p id="announce" class="visually-hidden" role="status" aria-live="polite"></p>
<script type="application/gzip" id="vega">{vega}</script>
<script type="application/gzip" id="runs">{runs}</script>
<script type="module">{script}</script>
<!-- {notices} -->
</body>
</html>
"""


def report(guide: Guide, title: str, filters: Filters = (), details: int = 0) -> tuple[str, int]:
    """The whole file, and how many runs are in it."""
    columns = _chosen(guide.columns(), filters)
    newest = sorted(zip(columns["started"], columns["id"], columns["status"], strict=True), key=str, reverse=True)
    failed = [name for _, name, status in newest if status != Status.OK][:details]
    whole = dict.fromkeys([*(name for _, name, _ in newest[:details]), *failed])
    content = {
        "title": title,
        "written": f"{datetime.now(UTC):%Y-%m-%d}",
        "columns": {name: coded(values) for name, values in columns.items()},
        "details": _details(guide, list(whole)),
    }
    style, script, library = assets.text("guide.css"), assets.script("report"), gzip.decompress(vega.bundle()).decode()
    assert "</" + "script" not in script and "</" + "style" not in style
    text = PAGE.format(
        policy=policy(style, script, library),
        title=html.escape(title),
        style=style,
        vega=_base64(vega.bundle()),
        runs=_base64(gzip.compress(json.dumps(content, separators=(",", ":"), allow_nan=False).encode(), 9)),
        script=script,
        notices=assets.text("NOTICES.txt").replace("--", "- "),
    )
    return text, len(columns["id"])


def _chosen(columns: dict[str, list[Any]], filters: Filters) -> dict[str, list[Any]]:
    """The rows that pass all filters."""
    kept = range(len(columns["id"]))
    for name, values in filters:
        of = dimension(name)
        kept_values = _texts(columns, name)
        kept = [i for i in kept if matches(of, kept_values[i], values)]  # type: ignore[assignment]
    return {name: [values[i] for i in kept] for name, values in columns.items()}


def _texts(columns: dict[str, list[Any]], name: str) -> list[str]:
    """A dimension as text, as filters speak of it."""
    if name.startswith(LABEL_PREFIX):
        return [str(labels.get(name.removeprefix(LABEL_PREFIX), "")) for labels in columns["labels"]]
    if name == "date":
        return [(started or "")[:10] for started in columns["started"]]
    if name == "data_type":
        return [
            f"{data} ({place})" if place else data or ""
            for data, place in zip(columns["data"], columns["data_store"], strict=True)
        ]
    return ["" if v is None else str(v) for v in columns["replica_batch" if name == "batch" else name]]


def _details(guide: Guide, names: Sequence[str]) -> list[dict[str, Any]]:
    """Complete records of some runs, with their steps thinned out and rounded, and the end of the log of those that failed.
    Records that can no longer be read are left out."""
    details = []
    left = LOGS_CHARACTERS
    for name in names:
        try:
            record = guide.record(name)
        except SteptimeError:
            continue
        fields = without_steps(record)
        if fields.get("failure"):
            fields["failure"] = {**fields["failure"], "log_tail": fields["failure"]["log_tail"][-2000:]}
        if fields.get("machine"):
            fields["machine"] = {**fields["machine"], "cpu_flags": []}
        command = repeat_command(record) if record.origin == "steptime" else ""
        charts = {"steps": steps.steps_values(record, MOST_STEPS), "histogram": steps.histogram_values(record)}
        log = log_of(guide.store, record)[0][-LOG_CHARACTERS:][:left] if record.status != Status.OK else ""
        left -= len(log)
        details.append({"record": fields, "command": command, "charts": charts if record.steps else None, "log": log})
    return details


def policy(style: str, *scripts: str) -> str:
    """These very scripts and this stylesheet may run, nothing else may, and nothing may be fetched from anywhere."""
    hashes = " ".join(_hash(script) for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def coded(values: Sequence[Any]) -> Column:
    """Each value once and a number for each run, where values repeat; figures as they are, rounded."""
    if any(isinstance(v, float) for v in values):
        return [rounded(v) for v in values]
    keys = [json.dumps(v, sort_keys=True) for v in values]
    different = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    if len(different) > 0.7 * len(values):
        return list(values)
    return {"d": [json.loads(key) for key in different], "c": [different[key] for key in keys]}


def rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")

"""Rows, questions and the right answers, which every engine of the guide is tested against.

`python -m tests.guide.golden` writes them.

golden.json: {"rows": index rows, "cases": [{"kind", "query", "expected"}]}; `kind` is query, facets, coverage,
scaling or compare, `expected` the answer as `steptime.guide.query.results.plain` gives it, without the view, warnings as text.
docs/guide-query.md is the definition.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from steptime.guide.engine import Guide
from steptime.guide.query.results import plain
from steptime.guide.view.view import View
from steptime.store.columns import row_of
from steptime.store.files import Store
from tests.guide.conftest import everything, run

FILE = Path(__file__).with_name("golden.json")
QUERIES = [
    "",
    "group=precision",
    "x=precision&group=model&framework=PyTorch",
    "group=precision&baseline=fp32&framework=PyTorch&replicas=1",
    "baseline=resnet50&precision=fp32",
    "group=framework&agg=mean",
    "group=framework&agg=median&y=batch_time_ms&log=y",
    "group=precision&facet=framework&agg=min",
    "y=p95_ms&agg=max",
    "y=peak_bytes&x=server",
    "y=limit_share&x=device",
    "contended=1&agg=mean",
    "contended=1&agg=median&group=precision",
    "contended=1&agg=max",
    "x=replicas&y=speedup&model=gpt2",
    "x=replicas&y=efficiency&model=gpt2&scaling=strong",
    "y=efficiency&replicas=4",
    "x=batch&scaling=weak&group=replicas",
    "x=batch&scaling=strong&group=replicas",
    "x=batch&scaling=strong&group=replicas&range=32..64",
    "x=date&group=framework&agg=mean",
    "x=date&date=2026-01-02..",
    "verdict=clean,noisy",
    "status=ok",
    "x=label.site",
    "x=label.site&y=cost_per_million",
    "x=label.site&y=cost_per_million&agg=mean",
    "group=framework,precision&range=vgg16,alexnet",
    "series=torch: framework=PyTorch&series=half: precision=fp16&model=alexnet,vgg16",
    "series=torch: framework=PyTorch; model=vgg16,resnet50&group=precision&model=alexnet,vgg16",
    "series=a: threads=2..&series=b: threads=1..1",
    "x=threads",
    "x=data_type&group=phase",
    "model=nothing",
]
COVERAGES = [
    "view=coverage&group=precision",
    "view=coverage&x=precision",
    "view=coverage&group=framework,phase&model=vgg16,resnet50",
]
SCALINGS = ["view=scaling", "view=scaling&scaling=strong", "view=scaling&group=model&replicas=2..4"]
COMPARISONS = [
    "view=compare&series=a: framework=JAX&series=b: framework=PyTorch",
    "view=compare&series=a: precision=fp32&series=b: precision=fp16&series=c: precision=fp64&y=batch_time_ms",
    "view=compare&series=one: model=alexnet; precision=fp32&series=other: model=vgg16; precision=fp16&contended=1",
    "view=compare&series=old: framework_version=2.0&series=new: framework_version=2.1",
    "view=compare&series=a: model=resnet9&series=b: model=resnet101&y=p95_ms",
]
FACETS = ["", "precision=fp16&model=vgg16", "contended=1", "replicas=2..", "label.site=psc"]


def records() -> list[Any]:
    extra = [
        run(300.0, model="resnet101", labels={"site": "psc", "price_per_hour": "3.6"}),
        run(310.0, model="resnet101", labels={"site": "psc", "price_per_hour": "3.6"}, day=2),
        run(40.0, model="resnet9", labels={"site": ""}, threads=2, data="imagenet", data_store="nvme"),
        run(44.0, model="resnet9", threads=4, phase="inference", version="2.1"),
        run(160.0, model="gpt2", devices=2, batch=16),
        run(290.0, model="gpt2", devices=4, batch=8),
        run(80.0, model="lone", devices=2, nodes=2),
        run(150.0, model="lone", devices=4, nodes=2, verdict="noisy"),
        run(None, "timeout", model="lone", devices=8),
        run(None, "crash", model="resnet9", precision="fp16"),
        run(None, "crash", model="resnet9", precision="fp16"),
        run(None, "timeout", model="resnet9", precision="fp16"),
        run(5.0, verdict="contended", model="disturbed"),
        run(900.0, verdict="contended", model="resnet50"),
    ]
    return [replace(record, id=f"g{number:03d}") for number, record in enumerate([*everything(), *extra])]


def made() -> dict[str, Any]:
    stored = records()
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name))
        store.put_all(stored)
        guide = Guide(store)
        guide.refresh()
        cases = [_case("query", query, guide.answer(View.parse(query))) for query in QUERIES]
        cases += [_case("coverage", query, guide.answer(View.parse(query))) for query in COVERAGES]
        cases += [_case("scaling", query, guide.answer(View.parse(query))) for query in SCALINGS]
        cases += [_case("compare", query, guide.answer(View.parse(query))) for query in COMPARISONS]
        cases += [_case("facets", query, guide.facets(View.parse(query))) for query in FACETS]
    return {"rows": [row_of(record) for record in stored], "cases": cases}


def _case(kind: str, query: str, answer: Any) -> dict[str, Any]:
    expected = plain(answer)
    if isinstance(expected, dict):
        expected.pop("view")
        expected.update({"warnings": [w["text"] for w in expected["warnings"]]} if "warnings" in expected else {})
    return {"kind": kind, "query": View.parse(query).query(), "expected": expected}


def text(content: dict[str, Any]) -> str:
    """One row and one case to a line, so that changes can be read."""
    rows = ",\n".join(json.dumps(row) for row in content["rows"])
    cases = ",\n".join(json.dumps(case) for case in content["cases"])
    return f'{{"rows": [\n{rows}\n], "cases": [\n{cases}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(made()))

"""`steptime models`: list the models, or the layers of one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from steptime.cli.options import json_option, settings
from steptime.core.errors import UsageError


@click.command("models")
@click.argument("name", required=False)
@click.option("--model-option", "-m", "options", multiple=True, metavar="K=V", help="With NAME: an option of the model.")
@click.option("--svg", metavar="FILE", help="With NAME: draw the graph into FILE.")
@json_option
def command(name: str | None, options: tuple[str, ...], svg: str | None, as_json: bool) -> int:
    """List the models, or the layers of one."""
    if name:
        return _one(name, options, svg, as_json)
    if options or svg:
        raise UsageError("--model-option and --svg need the NAME of a model")
    from steptime.catalogue.listing import catalogue

    rows = [dataclasses.asdict(entry) for entry in catalogue()]
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    from steptime.cli.printing import table

    header = ("model", "family", "input", "parameters", "GFLOPs", "year", "paper")
    print(table(header, [[row["name"], row["family"], *_counts(row), str(row["year"]), row["paper"]] for row in rows]))
    print("\nGFLOPs: forward, one sample, a multiply-add is 2; `steptime models NAME` shows layers and options")
    return 0


def _counts(row: dict[str, Any]) -> list[str]:
    return ["x".join(map(str, row["input"])), f"{row['parameters']:,}", f"{row['flops_forward'] / 1e9:.4g}"]


def _one(name: str, options: tuple[str, ...], svg: str | None, as_json: bool) -> int:
    from steptime.catalogue import drawing
    from steptime.core.models import zoo
    from steptime.core.schema import option_value

    entry = zoo.find(name)
    texts = settings("model-option", options)
    graph = zoo.build(name, {key: option_value(values[0], entry.options.get(key)) for key, values in texts.items()})
    if svg:
        try:
            Path(svg).write_text(drawing.svg(graph))
        except OSError as problem:
            raise UsageError(f"cannot write {svg}: {problem.strerror}") from None
        return 0
    rows = drawing.layer_table(graph)
    if as_json:
        for row in rows:
            print(json.dumps(dataclasses.asdict(row)))
        return 0
    from steptime.cli.printing import table

    header = ("layer", "operator", "output", "parameters", "MFLOPs")
    cells = [[r.name, r.operator, "x".join(map(str, r.shape)), f"{r.parameters:,}", f"{r.flops / 1e6:.4g}"] for r in rows]
    print(table(header, cells))
    print(f"\n{graph.parameter_count:,} parameters, {graph.flops_forward / 1e9:.4g} GFLOPs forward per sample")
    print("options: " + ", ".join(f"{key}={value!r}" for key, value in entry.options.items()))
    return 0

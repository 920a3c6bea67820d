"""`steptime models`: the zoo, or one model layer by layer."""

from __future__ import annotations

import json
from typing import Any

import click

from steptime.cli.options import json_option, settings
from steptime.errors import UsageError


@click.command("models")
@click.argument("name", required=False)
@click.option("--model-option", "-m", "options", multiple=True, metavar="K=V", help="With NAME: an option of the model.")
@json_option
def command(name: str | None, options: tuple[str, ...], as_json: bool) -> int:
    """List the models, or draw the layers of one."""
    from steptime.models import zoo
    from steptime.schema import option_value

    if name:
        entry = zoo.find(name)
        given = settings("model-option", options).items()
        chosen = {key: option_value(values[0], entry.options.get(key)) for key, values in given}
        return _layers(entry, zoo.build(name, chosen), as_json)
    if options:
        raise UsageError("--model-option needs the NAME of a model")
    rows = [_summary(entry, entry.build()) for entry in zoo.models().values()]
    _print(rows, as_json)
    return 0


def _summary(entry: Any, graph: Any) -> dict[str, Any]:
    return {
        "name": entry.name,
        "family": entry.family,
        "input": "x".join(map(str, graph.input.shape)),
        "parameters": graph.parameter_count,
        "gflops_forward": graph.flops_forward / 1e9,
        "year": entry.year,
        "paper": entry.paper,
    }


def _layers(entry: Any, graph: Any, as_json: bool) -> int:
    rows = [
        {
            "layer": node.name,
            "operator": type(node.op).__name__,
            "output": "x".join(map(str, node.shape)),
            "parameters": sum(p.size for p in node.parameters if p.trainable),
            "mflops_forward": graph.node_flops(node) / 1e6,
        }
        for node in graph.nodes
    ]
    _print(rows, as_json)
    if not as_json:
        print(f"\n{graph.parameter_count:,} parameters, {graph.flops_forward / 1e9:.4g} GFLOPs forward per sample")
        print("options: " + ", ".join(f"{key}={value!r}" for key, value in entry.options.items()))
    return 0


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    from steptime.cli.printing import table

    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    header = list(rows[0])
    print(table(header, [[_cell(row[key]) for key in header] for row in rows]))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and value > 9999 else str(value)

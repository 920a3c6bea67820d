"""`steptime report`: write all results and the guide into one HTML file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.cli.printing import size
from steptime.core.errors import UsageError


@click.command("report")
@click.argument("output", metavar="OUT.html")
@click.option("--title", default="", help="The title of the page.  [default: the name of the store]")
@click.option("--where", "-w", "filters", multiple=True, metavar="DIMENSION=V,..", help="Only runs with one of these values.")
@click.option("--details", default=300, show_default=True, help="How many of the newest runs come with their steps and machines.")
@json_option
@store_option
def command(output: str, title: str, filters: tuple[str, ...], details: int, as_json: bool, store_path: str | None) -> int:
    """Write one HTML file that holds the results and lets its reader explore them.

    It needs no server and no network, opens from a folder, an e-mail or a web page, and is the guide: axes, filters,
    groups, scaling, comparisons. 10,000 runs take less than 2 MB.
    """
    from steptime.guide.engine import Guide
    from steptime.guide.sharing import report
    from steptime.guide.view.notation import filters_of

    store = open_store(store_path)
    guide = Guide(store)
    guide.refresh()
    text, runs = report.report(guide, title or store.root.name, filters_of(*filters), max(0, details))
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot write {output}: {problem.strerror}") from None
    count = len(text.encode())
    print(json.dumps({"file": output, "bytes": count, "runs": runs}) if as_json else f"{output}: {runs:,} runs, {size(count)}")
    return 0

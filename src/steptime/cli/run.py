"""`steptime run`: measure one case, a grid of them, or a plan."""

from __future__ import annotations

import json
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option


@click.command("run")
@click.argument("what", required=False, metavar="[MODEL,..|PLAN]")
@click.option("--model", metavar="M,..", help="Models; see `steptime models`. For plans; else give them without --model.")
@click.option("--backend", "-B", metavar="B,..", help="Frameworks; see `steptime backends`.  [default: pytorch]")
@click.option("--phase", metavar="P,..", help="training, inference.  [default: both]")
@click.option("--batch", "-n", metavar="N,..", help="Samples per step.  [default: the model's own]")
@click.option("--precision", "-p", metavar="P,..", help="fp64, fp32, tf32, bf16, fp16, int8.  [default: fp32]")
@click.option("--threads", "-t", metavar="N,..", help="CPU threads.  [default: as many as may be used]")
@click.option("--optimizer", metavar="O,..", help="sgd, momentum, adam; none is forward and backward only.  [default: sgd]")
@click.option("--device", metavar="D,..", help="cpu, cuda.  [default: cpu]")
@click.option("--devices", metavar="N,..", help="Devices per node.  [default: 1]")
@click.option("--nodes", metavar="N,..", help="[default: 1]")
@click.option("--data", metavar="D,..", help="What is fed: synthetic, mnist.  [default: synthetic]")
@click.option("--data-store", metavar="S,..", help="Where the data come from.  [default: dram]")
@click.option("--learning-rate", metavar="X,..", help="[default: the model's own]")
@click.option("--model-option", "-m", "model_options", multiple=True, metavar="K=V,..", help="See `steptime models NAME`.")
@click.option("--backend-option", "-b", "backend_options", multiple=True, metavar="K=V,..", help="See `steptime backends`.")
@click.option("--label", "labels", multiple=True, metavar="K=V", help="A note that is kept with the records.")
@click.option("--repeats", type=int, default=1, show_default=True, help="Processes per case, taken in turns.")
@click.option(
    "--order", type=click.Choice(["interleaved", "grouped"]), help="Repeats in turns or at once.  [default: interleaved]"
)
@click.option("--include", multiple=True, metavar="EXPR", help="Only cases of which this is true; see docs/plans.md.")
@click.option("--exclude", multiple=True, metavar="EXPR", help="No cases of which this is true; '' drops the plan's own.")
@click.option("--seed", metavar="N,..", help="Of weights and inputs.  [default: 1]")
@click.option("--target", type=float, default=0.01, show_default=True, help="Stop when the 95% interval is +/- this share.")
@click.option("--min-steps", type=int, default=20, show_default=True, help="Steady steps before the target may stop a case.")
@click.option("--max-steps", type=int, default=100_000, show_default=True, help="Steps after which a case stops.")
@click.option("--max-seconds", type=float, default=30.0, show_default=True, help="Seconds of steps after which a case stops.")
@click.option("--limit-seconds", type=float, default=900.0, show_default=True, help="Seconds after which a worker is killed.")
@click.option("--heartbeat-seconds", type=float, default=30.0, show_default=True, help="Silence after which a worker is killed.")
@click.option("--python", default="", metavar="PATH", help="An interpreter that has the framework: venv, conda, module.")
@click.option("--resume", is_flag=True, help="Go on with the last sweep of the same cases; finished ones are not run again.")
@click.option("--no-wait", is_flag=True, help="Measure even while another steptime measures on this machine.")
@click.option("--fresh", is_flag=True, help="A new interpreter for every case, not a fork of one that has the framework.")
@click.option("--dry-run", is_flag=True, help="Only print the cases, and how long they would take.")
@click.option("--all", "every", is_flag=True, help="With --dry-run: every case, however many.")
@click.option("--steps-table", is_flag=True, help="Print step lines as tf_cnn_benchmarks does.")
@click.option("--full", is_flag=True, help="With --json: the whole record.")
@json_option
@store_option
def command(what: str | None, **given: Any) -> int:
    """Measure MODELS (default: mnist_cnn, alexnet_conv and resnet50) or the cases of a PLAN on this machine.

    A plan is a file, or one of `steptime plans`. Comma lists make a grid, whose cases are run one after another.
    What is said here beats what the plan says.
    """
    from steptime.cli.plan import asked_plan
    from steptime.plan.expand import Expansion, expanded

    expansion = Expansion(asked_plan(what, given))
    if given["dry_run"]:
        from steptime.cli.preview import preview

        return preview(expansion, open_store(given["store_path"]), given["as_json"], given["every"])
    return _measure(expanded(expansion), given)


def _measure(cases: list[Any], given: dict[str, Any]) -> int:
    from steptime.cli.progress import display
    from steptime.environments.choose import interpreter
    from steptime.schema import OK
    from steptime.sweep import state
    from steptime.sweep.run import Settings, run_sweep

    store = open_store(given["store_path"])
    for backend in {case.backend for case in cases}:
        interpreter(backend, given["python"])
    store.prepare()
    sweep = (state.latest(store, cases) if given["resume"] else None) or state.begin(store, cases)
    how = Settings(given["python"], given["heartbeat_seconds"], not given["no_wait"], given["fresh"])
    records = []
    with display(len(cases)) as shown:
        for record in run_sweep(store, sweep, how, shown):
            records.append(record)
            _print_one(record, given)
    if not given["as_json"]:
        _print_all(records, store)
    return 0 if all(record.status == OK for record in records) else 1


def _print_one(record: Any, given: dict[str, Any]) -> None:
    from steptime.cli.printing import print_steps
    from steptime.schema import to_json
    from steptime.store.index import full_row

    if given["as_json"]:
        print(to_json(record) if given["full"] else json.dumps(full_row(record)), flush=True)
    elif given["steps_table"]:
        print_steps(record)


def _print_all(records: list[Any], store: Any) -> None:
    from steptime.cli.printing import RESULT_HEADER, result_cells, table
    from steptime.store.index import row_of

    rows = [row_of(record) for record in records]
    print(table(RESULT_HEADER, [result_cells(row) for row in rows]))
    count = "1 record" if len(rows) == 1 else f"{len(rows)} records"
    print(f"\n{count} in {store.root}; `steptime show last` explains the newest, `steptime export` gives CSV")
    for line in _remarks(records):
        print(line)


def _remarks(records: list[Any]) -> list[str]:
    """What the results say against themselves, and what would mend it."""
    from steptime.cli.printing import half_width
    from steptime.schema import OK
    from steptime.store.index import row_of

    remarks = []
    measured = [(record, row_of(record)) for record in records if record.status == OK]
    wide = [row["model"] for record, row in measured if half_width(row) > record.case.budget.target]
    if wide:
        longer = 4 * records[0].case.budget.max_seconds
        names = ", ".join(dict.fromkeys(wide))
        remarks.append(f"wider than the target: {names}; --max-seconds {longer:g} would about halve the intervals")
    crowded = [row for _, row in measured if row["verdict"] == "contended"]
    if crowded:
        remarks.append(f"contended: {len(crowded)} of {len(records)}; something else used the machine, see `steptime show ID`")
    return remarks

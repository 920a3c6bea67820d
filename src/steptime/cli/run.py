"""`steptime run`: measure one case, a grid of cases, or a plan."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steptime.cli.measuring import checked_settings, run_and_print
from steptime.cli.options import open_store, words
from steptime.cli.run_options import RunOptions, distinct, measuring_options, run_options
from steptime.core.errors import UnknownName, Unsupported, UsageError
from steptime.core.machine.cpus import usable_threads
from steptime.core.models import zoo
from steptime.core.schema import Case, case_key
from steptime.plan.file import preset, preset_names, read_plan
from steptime.plan.plan import Plan, changed
from steptime.schedulers.site import RUNS_ON, Site
from steptime.store.files import Store
from steptime.store.record_search import records_of_sweep
from steptime.sweep import live, state
from steptime.sweep.state import Sweep
from steptime.sweep.verdicts import best_of

if TYPE_CHECKING:
    from steptime.plan.expand import DeviceChoice

DEFAULT_PLAN = "default"


@click.command("run")
@click.argument("subject", required=False, metavar="[MODEL,..|PLAN]")
@click.option("--model", metavar="M,..", help="Models of a plan's cases. Without a plan, name them as the argument.")
@click.option(
    "--backend", "-B", metavar="B,..", help="Frameworks (see `steptime backends`); all: every installed one.  [default: pytorch]"
)
@click.option("--phase", metavar="P,..", help="training, inference.  [default: both]")
@click.option("--batch", "-n", metavar="N,..", help="Samples per step.  [default: the model's own]")
@click.option("--precision", "-p", metavar="P,..", help="fp64, fp32, tf32, bf16, fp16, int8.  [default: fp32]")
@click.option("--threads", "-t", metavar="N,..", help="CPU threads per rank.  [default: cores / the most devices]")
@click.option("--optimizer", metavar="O,..", help="sgd, momentum, adam; none: only forward and backward.  [default: sgd]")
@click.option(
    "--device",
    metavar="D,..",
    help="cpu, cuda, or a device type of the site.  [default: cuda where GPU and framework allow, else cpu]",
)
@click.option("--devices", metavar="N,..", help="Devices per node.  [default: 1]")
@click.option("--nodes", metavar="N,..", help="Number of nodes.  [default: 1]")
@click.option(
    "--data", metavar="D,..", help="Data to feed: synthetic, mnist, or a folder; see `steptime data`.  [default: synthetic]"
)
@click.option(
    "--data-store", metavar="S,..", help="Where real data are staged: dram, scratch, local, or a path.  [default: dram]"
)
@click.option("--learning-rate", metavar="X,..", help="Learning rate of the optimizer.  [default: the model's own]")
@click.option(
    "--model-option",
    "-m",
    "model_options",
    multiple=True,
    metavar="K=V,..",
    help="Options of the model; see `steptime models NAME`.",
)
@click.option(
    "--backend-option",
    "-b",
    "backend_options",
    multiple=True,
    metavar="K=V,..",
    help="Options of the backend; see `steptime backends NAME`.",
)
@click.option("--label", "labels", multiple=True, metavar="K=V", help="A note to keep with the records.")
@click.option(
    "--repeats", type=int, default=1, show_default=True, help="Measurements of each case, each in a process of its own."
)
@click.option(
    "--order",
    type=click.Choice(["interleaved", "grouped"]),
    help="Repeat the whole grid, or each case in turn.  [default: interleaved]",
)
@click.option("--include", multiple=True, metavar="EXPR", help="Only cases for which this is true; see docs/plans.md.")
@click.option(
    "--exclude", multiple=True, metavar="EXPR", help="No cases for which this is true; '' drops the plan's own conditions."
)
@click.option("--seed", metavar="N,..", help="Seed of weights and inputs.  [default: 1]")
@click.option(
    "--target", type=float, default=0.01, show_default=True, help="Stop a case when its 95% interval is within +/- this share."
)
@click.option("--min-steps", type=int, default=20, show_default=True, help="Steady steps before the target may stop a case.")
@click.option("--max-steps", type=int, default=100_000, show_default=True, help="Stop a case after this many steps.")
@click.option("--max-seconds", type=float, default=30.0, show_default=True, help="Stop a case after this many seconds of steps.")
@click.option("--limit-seconds", type=float, default=900.0, show_default=True, help="Kill a worker after this many seconds.")
@click.option("--resume", is_flag=True, help="Continue the last sweep of the same cases, even if it is finished.")
@click.option("--new", is_flag=True, help="Start over, even if the last sweep of the same cases was interrupted.")
@click.option("--find-max-batch", is_flag=True, help="Find the largest batch that fits, by bisection, and measure it.")
@click.option("--on", "site", default="local", show_default=True, metavar="SITE", help="Run on a cluster; see `steptime sites`.")
@click.option("--dry-run", is_flag=True, help="Print the cases and how long they will take; measure nothing.")
@click.option("--all", "list_all", is_flag=True, help="With --dry-run: list every case, however many.")
@measuring_options
@click.pass_context
def command(context: click.Context, /, **_: Any) -> int:
    """Measure MODELS (default: mnist_cnn, alexnet_conv and resnet50) or the cases of a PLAN, here or on a SITE.

    A plan is a file or one of `steptime plans`. Comma lists make a grid, whose cases run one after another.
    Options override the plan.
    """
    from steptime.plan.expand import Expansion, expanded

    options = run_options(context)
    site = site_named(options.site)
    expansion = Expansion(plan_to_run(options), cores_of(site), _device_choice(site, options))
    cases = expanded(expansion)
    check_places(expansion.plan, cases, site)
    if site is None and "device" not in expansion.plan.keys:
        _name_device(cases)
    if "all" in options.changes.values.get("backend", ()):
        _name_those_left_out()
    if options.dry_run:
        from steptime.cli.preview import preview

        store = open_store(options.measuring.store_path)
        return preview(expansion, cases, store, options.measuring.as_json, options.list_all, site)
    return _measure(cases, expansion.plan.name, site, options)


def plan_to_run(options: RunOptions) -> Plan:
    """A plan file, a preset or models, changed by the command line."""
    plan, models = _base(options.subject)
    changes = options.changes
    if models and "model" in changes.values:
        twice = ",".join(map(str, changes.values["model"]))
        raise UsageError(f"models are given twice: '{options.subject}' and --model {twice}")
    if models:
        changes = replace(changes, values={"model": distinct("model", models), **changes.values})
    return changed(plan, changes)


def _base(subject: str | None) -> tuple[Plan, list[str]]:
    """The plan, and the models that its argument names instead of one."""
    if subject is None:
        return preset(DEFAULT_PLAN), []
    path = Path(subject)
    if path.suffix == ".toml" or path.is_file():
        return read_plan(path), []
    if subject in preset_names():
        return preset(subject), []
    models = words(subject)
    for name in models:
        if name not in zoo.models():
            problem = UnknownName("model or plan", name, [*zoo.models(), *preset_names()])
            raise UsageError(f"{problem}; or the path of a plan file, PLAN.toml")
    return preset(DEFAULT_PLAN), models


def site_named(name: str) -> Site | None:
    """None is this machine."""
    from steptime.schedulers.site_search import LOCAL, find_site

    return None if name == LOCAL else find_site(name)


def cores_of(site: Site | None) -> int:
    return site.cores if site and site.cores else usable_threads()


def _device_choice(site: Site | None, options: RunOptions) -> DeviceChoice:
    """A site has devices of its own, and nobody knows what the framework of an interpreter from elsewhere was built for."""
    from steptime.environments.default_device import default_device
    from steptime.plan.expand import cpu_only

    return cpu_only if site or options.measuring.python else default_device


def _name_device(cases: Sequence[Case]) -> None:
    """Where the machine has a GPU, says which device was chosen and how to choose another."""
    from steptime.environments.default_device import gpu_names

    gpus = gpu_names()
    chosen = list(dict.fromkeys(case.device for case in cases)) if gpus else []
    if chosen == ["cuda"]:
        print(f"device: cuda ({gpus[0]}); --device cpu measures the CPU", file=sys.stderr)
    elif chosen:
        on_cpu = ", ".join(dict.fromkeys(case.backend for case in cases if case.device == "cpu"))
        print(
            f"device: {', '.join(chosen)}; {on_cpu} on the CPU, although there is a GPU ({gpus[0]}): --device cuda",
            file=sys.stderr,
        )


def check_places(plan: Plan, cases: Sequence[Case], site: Site | None) -> None:
    """Unknown names of devices and stores are usage errors; counts that the machine does not have become failed records."""
    if site is None:
        for device in dict.fromkeys(case.device for case in cases):
            if device not in RUNS_ON:
                raise plan.problem("device", UnknownName("device", device, RUNS_ON))
        return
    from steptime.schedulers.request import request_of

    for case in {(c.device, c.data_store): c for c in cases}.values():
        try:
            request_of(site, case)
        except Unsupported:
            continue
        except UsageError as problem:
            key = "device" if case.device not in site.devices else "data_store"
            raise plan.problem(key, problem) from None


def _name_those_left_out() -> None:
    from steptime.plan.expand import frameworks_here

    known, ready = frameworks_here()
    missing = [name for name in known if name not in ready]
    if missing:
        print(f"left out, not installed: {', '.join(missing)}; run: steptime setup {' '.join(missing)}", file=sys.stderr)


def _measure(cases: list[Case], name: str, site: Site | None, options: RunOptions) -> int:
    settings = checked_settings(cases, site, options.measuring)
    store = open_store(options.measuring.store_path)
    store.prepare()
    if options.find_max_batch and site:
        raise UsageError("--find-max-batch tries one batch after another: run it without --on")
    if options.find_max_batch:
        from steptime.cli.largest import with_largest_batches

        cases = with_largest_batches(store, cases, settings)
        if not cases:
            return 1
    return run_and_print(store, _sweep(store, cases, name, site, options), site, settings, options.measuring)


def _sweep(store: Store, cases: list[Case], name: str, site: Site | None, options: RunOptions) -> Sweep:
    """The last sweep of the same cases if it is to be resumed or was interrupted; else a new one."""
    last = None if options.new else state.latest(store, cases, site.name if site else "")
    if last and (options.resume or options.measuring.retry or _interrupted(store, last)):
        print(f"continuing sweep {last.id}; --new starts over", file=sys.stderr)
        return last
    return state.begin(store, cases, name, site)


def _interrupted(store: Store, sweep: Sweep) -> bool:
    """Some case has no record, and nobody is at work on it."""
    best = best_of(records_of_sweep(store, sweep.id))
    return any(case_key(case) not in best for case in sweep.cases) and not live.running(state.folder_of(store, sweep))

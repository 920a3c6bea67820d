"""What `steptime run` measures, and where: a plan file, a preset or models, changed by the command line; here or on a site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from steptime.cli.options import words
from steptime.cli.run_options import RunOptions, distinct
from steptime.core.errors import UnknownName, Unsupported, UsageError
from steptime.core.machine.cpus import usable_threads
from steptime.core.models import zoo
from steptime.core.schema import Case
from steptime.plan.file import preset, preset_names, read_plan
from steptime.plan.plan import Plan, changed
from steptime.schedulers.site import RUNS_ON, Site

DEFAULT = "default"


def plan_to_run(options: RunOptions) -> Plan:
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
        return preset(DEFAULT), []
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
    return preset(DEFAULT), models


def site_named(name: str) -> Site | None:
    """None is this machine."""
    from steptime.schedulers.site_search import LOCAL, find_site

    return None if name == LOCAL else find_site(name)


def cores_of(site: Site | None) -> int:
    return site.cores if site and site.cores else usable_threads()


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

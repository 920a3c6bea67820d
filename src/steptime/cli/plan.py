"""From the options of `steptime run` to a plan: a file, a preset or models, and what the command line changes in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from steptime.cli.options import words
from steptime.cli.run_options import RunOptions, distinct
from steptime.core.errors import UnknownName, UsageError
from steptime.core.models import zoo
from steptime.plan.file import read_plan
from steptime.plan.plan import Plan, changed
from steptime.plan.preset import preset, preset_names

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

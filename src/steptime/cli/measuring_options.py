"""The options that `run` and `resume` share, and the settings of a sweep that they make."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from steptime.cli.options import json_option, store_option
from steptime.core.errors import UnknownName
from steptime.sweep.run import Settings
from steptime.sweep.verdicts import RETRIES

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option(
        "--python",
        default="",
        metavar="PATH",
        help="Interpreter that has the framework: a path, a command or an environment's folder.",
    ),
    click.option("--retry", default="", metavar="WHICH", help="Measure cases that have a record again: failed, contended, all."),
    click.option(
        "--contended-rounds", type=int, default=1, show_default=True, help="How often to measure contended cases again."
    ),
    click.option(
        "--heartbeat-seconds",
        type=float,
        default=30.0,
        show_default=True,
        help="Kill a worker after this many seconds without a heartbeat.",
    ),
    click.option("--no-wait", is_flag=True, help="Measure even while another steptime measures on this machine."),
    click.option(
        "--fresh", is_flag=True, help="Start a new interpreter for every case instead of forking one that has the framework."
    ),
    click.option("--detach", is_flag=True, help="On a site: return when all jobs are submitted; see `steptime status`."),
    click.option("--steps-table", is_flag=True, help="Print step lines like tf_cnn_benchmarks."),
    click.option("--full", is_flag=True, help="With --json: print the whole record."),
    json_option,
    store_option,
)


def measuring_options(command: F) -> F:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class MeasuringOptions:
    """A field for each of OPTIONS, by click's names."""

    python: str
    retry: str
    contended_rounds: int
    heartbeat_seconds: float
    no_wait: bool
    fresh: bool
    detach: bool
    steps_table: bool
    full: bool
    as_json: bool
    store_path: str | None

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> MeasuringOptions:
        return cls(**{field.name: parameters[field.name] for field in dataclasses.fields(cls)})

    def settings(self) -> Settings:
        if self.retry not in RETRIES:
            raise UnknownName("--retry", self.retry, [name for name in RETRIES if name])
        return Settings(
            python=self.python,
            heartbeat_seconds=self.heartbeat_seconds,
            wait_for_machine=not self.no_wait,
            fresh=self.fresh,
            retry=self.retry,
            contended_rounds=self.contended_rounds,
        )

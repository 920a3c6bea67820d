"""A cluster: its device types, how jobs request them, where its frameworks and directories are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

from msgspec import Meta

RunsOn = Literal["cpu", "cuda"]
RUNS_ON: tuple[str, ...] = get_args(RunsOn)

LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
"""no character that would end a line of a script"""
Text = Annotated[str, Meta(pattern=rf"^{LINE}\Z", description="a text in quotes, in one line")]
Word = Annotated[str, Meta(pattern=r"^[^\s'\"\\#\x00-\x1f\x7f-\x9f]*\Z", description="a name without spaces and quotes")]
"""becomes part of an #SBATCH line"""
Option = Annotated[
    str, Meta(pattern=rf"^-{LINE}\Z", description='options of sbatch such as "--constraint=v100", one to an entry')
]
Time = Annotated[
    str,
    Meta(
        pattern=r"^(\d+(:\d\d){0,2}|\d+-\d\d?(:\d\d){0,2})?\Z",
        description="a time as Slurm writes it: '30', '2:00:00' or '1-12:00:00'",
    ),
]
Memory = Annotated[str, Meta(pattern=r"^(\d+[KMGT]?)?\Z", description="an amount as Slurm writes it: '8G' or '16000M'")]
Seconds = Annotated[float, Meta(gt=0, description="a number of seconds above 0")]
FromZero = Annotated[int, Meta(ge=0, description="a whole number from 0 on")]
FromOne = Annotated[int, Meta(ge=1, description="a whole number from 1 on")]
FromTwo = Annotated[int, Meta(ge=2, description="a whole number from 2 on")]


@dataclass(frozen=True)
class Wants:
    """What a job requests; empty leaves it to the cluster's defaults."""

    partition: Word = ""
    account: Word = ""
    qos: Word = ""
    time: Time = ""
    """as Slurm writes it; empty: the case's own limit and some minutes"""
    memory: Memory = ""
    """per node"""
    sbatch: tuple[Option, ...] = ()
    """further options, each a line of the script"""


@dataclass(frozen=True)
class DeviceType:
    """One kind of device, by its name in plans."""

    name: str
    wants: Wants = Wants()
    device: RunsOn = "cuda"
    """the framework's own device"""
    gres: Word = ""
    """Slurm's name of it; empty for the CPU"""
    counts: tuple[FromOne, ...] = ()
    """how many per node a job may request; empty: any number"""


@dataclass(frozen=True)
class Framework:
    """How to reach a backend's interpreter: modules, conda and shell lines, in this order."""

    python: Text = ""
    conda: Text = ""
    modules: tuple[Word, ...] = ()
    lines: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Arrays:
    at_least: FromTwo = 10
    """from so many cases with the same request on, they become a job array"""
    running: FromZero = 0
    """limit of tasks of an array that run at the same time; 0: none"""
    largest: FromTwo = 1000
    """tasks in one array; the cluster's MaxArraySize counts too"""


@dataclass(frozen=True)
class Site:
    name: str
    description: Text = ""
    path: str = ""
    wants: Wants = Wants()
    scheduler: Literal["slurm"] = "slurm"
    gpu_flag: Literal["gres", "gpus-per-node"] = "gres"
    launcher: Literal["srun", "mpirun"] = "srun"
    launch_single: bool = False
    """whether the launcher starts cases of one process too"""
    login_shell: bool = False
    cores: FromZero = 0
    """of a node: the default threads of its ranks together, and `cores` in plans; 0: those of the machine that submits"""
    retries: FromZero = 2
    """how many times to submit a case again after a node failure or preemption"""
    poll_seconds: Seconds = 10.0
    arrays: Arrays = Arrays()
    devices: Mapping[str, DeviceType] = field(default_factory=dict)
    backends: Mapping[str, Framework] = field(default_factory=dict)
    directories: Mapping[str, str] = field(default_factory=dict)
    """named data stores; the node expands $VARIABLES"""
    environment: Mapping[str, str] = field(default_factory=dict)

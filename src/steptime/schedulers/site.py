"""What a cluster is like: its device types, how jobs ask for them, where frameworks and directories are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LAUNCHERS = ("srun", "mpirun")
GPU_FLAGS = ("gres", "gpus-per-node")
RUNS_ON = ("cpu", "cuda")


@dataclass(frozen=True)
class Wants:
    """What a job asks for; empty is left to the cluster's own defaults."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    time: str = ""
    """as Slurm writes it; empty: the case's own limit and some minutes"""
    memory: str = ""
    """per node"""
    sbatch: tuple[str, ...] = ()
    """further options, each a line of the script"""


@dataclass(frozen=True)
class DeviceType:
    """One kind of device, by the name that plans call it."""

    name: str
    wants: Wants = Wants()
    device: str = "cuda"
    """what the framework is asked to run on"""
    gres: str = ""
    """what Slurm calls it; empty for the CPU"""
    counts: tuple[int, ...] = ()
    """how many of a node may be asked for; empty: any number"""


@dataclass(frozen=True)
class Framework:
    """How a backend's interpreter is come by: in this order modules, conda, lines; then the interpreter."""

    python: str = ""
    conda: str = ""
    modules: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arrays:
    at_least: int = 10
    """so many cases that ask for the same become a job array"""
    running: int = 0
    """tasks of an array at the same time; 0: no limit"""
    largest: int = 1000
    """tasks in one array; the cluster's MaxArraySize counts too"""


@dataclass(frozen=True)
class Site:
    name: str
    description: str = ""
    path: str = ""
    wants: Wants = Wants()
    gpu_flag: str = "gres"
    launcher: str = "srun"
    launch_single: bool = False
    """whether a case of one process goes through the launcher too"""
    login_shell: bool = False
    cores: int = 0
    """of a node: the default threads of its ranks together, and `cores` in plans; 0: those of the machine that submits"""
    retries: int = 2
    """how often a case is submitted again after a node failure or preemption"""
    poll_seconds: float = 10.0
    arrays: Arrays = Arrays()
    devices: Mapping[str, DeviceType] = field(default_factory=dict)
    backends: Mapping[str, Framework] = field(default_factory=dict)
    directories: Mapping[str, str] = field(default_factory=dict)
    """named stores of data, with $VARIABLES that the node expands"""
    environment: Mapping[str, str] = field(default_factory=dict)

"""Every type that crosses a process or reaches disk, and its JSON.

Frozen dataclasses that do nothing by themselves. The inner half reads and writes them with the standard
library (`to_json`, `from_json`); the outer half decodes and validates them with msgspec, from these same classes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import typing
from dataclasses import dataclass, field
from typing import Any, Optional, TypeVar, Union

SCHEMA_VERSION = 1

PHASES = ("training", "inference")
PRECISIONS = ("fp64", "fp32", "tf32", "bf16", "fp16", "int8")
OPTIMIZERS = ("sgd", "momentum", "adam", "none")
OK = "ok"
FAILURES = (
    "unsupported",
    "out_of_memory",
    "illegal_instruction",
    "crash",
    "timeout",
    "cancelled",
    "wrong_result",
    "node_failure",
    "launch_failed",
)
VERDICTS = ("clean", "noisy", "contended", "unknown")

Option = Union[int, float, bool, str]


def option_value(text: str, default: object) -> Option:
    """The text as the type of the default, if it can be read as that; else the text, for whoever checks to refuse."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    for kind in (int, float):
        if isinstance(default, kind):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


@dataclass(frozen=True)
class Budget:
    """When to stop: at the target precision, or at the budget's steps or seconds."""

    target: float = 0.01
    """relative half-width of the confidence interval of mean speed"""
    min_steps: int = 20
    max_steps: int = 100_000
    max_seconds: float = 30.0
    """time in steps, warm-up included"""
    limit_seconds: float = 900.0
    """wall time of the whole worker, after which it is killed"""


@dataclass(frozen=True)
class Case:
    """One thing to measure, fully said. In an imported record, empty words and zeroes mean: its source does not say."""

    model: str
    backend: str
    batch: int
    """samples per replica and step"""
    phase: str = "training"
    precision: str = "fp32"
    device: str = "cpu"
    devices: int = 1
    """devices per node"""
    nodes: int = 1
    threads: int = 1
    optimizer: str = "sgd"
    learning_rate: float = 0.01
    data: str = "synthetic"
    data_store: str = "dram"
    seed: int = 1
    repeat: int = 0
    model_options: dict[str, Option] = field(default_factory=dict)
    backend_options: dict[str, Option] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def replicas(self) -> int:
        return self.devices * self.nodes

    @property
    def effective_batch(self) -> int:
        return self.batch * self.replicas


@dataclass(frozen=True)
class Job:
    """What a worker is given: the file job.json of its folder."""

    id: str
    case: Case
    kind: str = "measure"
    """measure | probe | parity"""
    sweep: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """variables that must be set before the framework is imported"""
    peak_flops: Optional[float] = None
    """the measured limit of this machine at the case's precision, if known"""
    parity_steps: int = 0
    """kind parity: how many optimiser steps to take before the parameters are written"""
    device: str = ""
    """what the framework is to run on, where the case names a device type of a site; empty: as the case says"""
    schema: int = SCHEMA_VERSION


@dataclass(frozen=True)
class Steps:
    """The raw samples. Everything in Summary can be computed again from these."""

    seconds: list[float]
    """every step in order, first and warm-up steps included"""
    steady_start: int
    """index of the first step of the steady part"""
    steady_rule: str
    stopped_by: str
    """target | steps | seconds"""
    loss_steps: list[int] = field(default_factory=list)
    """after how many steps the losses were read: between blocks of steps, never inside one"""
    losses: list[Optional[float]] = field(default_factory=list)
    data_seconds: list[float] = field(default_factory=list)
    """of each step, the part in which the next batch was fetched and handed over; empty for synthetic data"""


@dataclass(frozen=True)
class Summary:
    """The figures of the steady part."""

    n: int
    effective_batch: int
    mean_seconds: float
    mean_speed: float
    uncertainty: float
    jitter: float
    ci_level: float
    ci_low: float
    ci_high: float
    ci_method: str
    p50_seconds: float
    p90_seconds: float
    p95_seconds: float
    p99_seconds: float
    min_seconds: float
    max_seconds: float


@dataclass(frozen=True)
class Printed:
    """The figures that another tool printed of steps that it did not keep. None: it did not say."""

    mean_seconds: Optional[float] = None
    mean_speed: Optional[float] = None
    uncertainty: Optional[float] = None
    jitter: Optional[float] = None
    n: Optional[int] = None
    """steps that were timed"""
    p50_seconds: Optional[float] = None
    p90_seconds: Optional[float] = None
    p95_seconds: Optional[float] = None
    p99_seconds: Optional[float] = None
    min_seconds: Optional[float] = None
    max_seconds: Optional[float] = None
    peak_bytes: Optional[int] = None
    effective_batch: Optional[int] = None
    """where only the whole is told, not how replicas share it"""
    others: dict[str, float] = field(default_factory=dict)
    """figures that have no field here, by the name that says their unit: accuracy, run_seconds, power_watts, ..."""


@dataclass(frozen=True)
class Source:
    """Where an imported record comes from, precisely enough to look it up again."""

    tool: str
    file: str
    line: int
    sha256: str
    server: str = ""
    device: str = ""
    """the processor's name"""
    interconnect: str = ""
    runtime: str = ""
    raw: dict[str, str] = field(default_factory=dict)
    """the source's own words, wherever they were translated or have no field of their own"""
    notes: list[str] = field(default_factory=list)
    """what was corrected or concluded, and why"""


@dataclass(frozen=True)
class Cost:
    """What a step asks of the machine, and how near to its limit it ran."""

    parameters: int
    parameter_bytes: int
    activation_bytes: int
    flops_per_step: Optional[float]
    achieved_flops: Optional[float] = None
    peak_flops: Optional[float] = None
    limit_share: Optional[float] = None


@dataclass(frozen=True)
class Contention:
    """Who else used the machine while the steady steps ran."""

    verdict: str
    reason: str
    wall_seconds: float
    cpu_seconds: float
    cpu_seconds_per_step: float
    involuntary_switches: int
    pressure_share: Optional[float] = None
    """share of time in which some runnable task waited for a CPU (PSI)"""
    steal_share: Optional[float] = None
    foreign_cores: Optional[float] = None
    """cores' worth of CPU time that other processes used"""
    runnable_tasks: Optional[float] = None


@dataclass(frozen=True)
class Resources:
    """Memory, start-up and energy of one worker."""

    peak_bytes: int
    device_peak_bytes: Optional[int]
    startup_seconds: float
    import_seconds: float
    build_seconds: float
    first_step_seconds: float
    compile_seconds: Optional[float]
    """first step less the steady median, where the backend compiles; else None"""
    energy_joules: Optional[float] = None
    """None: no counter here. Never a guess."""


@dataclass(frozen=True)
class Software:
    python: str
    interpreter: str
    framework: str
    framework_version: str
    steptime: str
    packages: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    """the variables that were set for this case"""
    threads: Optional[int] = None
    """threads really in force, as the framework reports them"""
    busy_threads: Optional[int] = None
    """threads that were seen to work during the steps; None where nothing could be seen"""
    precision: str = ""
    """the type that really ran"""
    affinity: list[int] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    """what the backend chose: layout, compile mode, fused optimiser, ..."""


@dataclass(frozen=True)
class Accelerator:
    name: str
    memory_bytes: Optional[int] = None
    driver: str = ""


@dataclass(frozen=True)
class Machine:
    id: str
    """the same for the same hardware and host; changes when the machine does"""
    host: str
    cpu: str
    sockets: int
    cores: int
    logical_cpus: int
    usable_cpus: float
    """after affinity and cgroup quota"""
    memory_bytes: int
    usable_memory_bytes: int
    """after cgroup limit"""
    os: str
    kernel: str
    architecture: str
    virtualised: str = ""
    cpu_flags: list[str] = field(default_factory=list)
    accelerators: list[Accelerator] = field(default_factory=list)


@dataclass(frozen=True)
class Staging:
    """Where real data were read from, and what it took to have them there."""

    store: str
    """as the case names it"""
    folder: str
    bytes: int
    seconds: float
    copied: bool
    """whether this case made the copy; else it was there already"""


@dataclass(frozen=True)
class Failure:
    """How a worker ended that gave no figure."""

    exit_code: Optional[int] = None
    signal: str = ""
    log_tail: str = ""


@dataclass(frozen=True)
class Allocation:
    """What a scheduler gave to a case, and how long that took."""

    site: str
    job: str
    """the scheduler's id; of a task of an array: ARRAY_TASK"""
    partition: str = ""
    nodes: list[str] = field(default_factory=list)
    gres: str = ""
    """the devices that were asked for on each node, as Slurm writes them: gpu:k80:2"""
    visible_devices: str = ""
    """CUDA_VISIBLE_DEVICES on the first node"""
    ran_on: str = ""
    """cpu | cuda: what the framework really ran on"""
    queue_seconds: Optional[float] = None


@dataclass(frozen=True)
class Record:
    """One finished case: a measurement or a failure. Immutable once stored."""

    id: str
    status: str
    case: Case
    started: str
    """UTC, ISO 8601"""
    message: str = ""
    sweep: str = ""
    origin: str = "steptime"
    steps: Optional[Steps] = None
    summary: Optional[Summary] = None
    cost: Optional[Cost] = None
    contention: Optional[Contention] = None
    resources: Optional[Resources] = None
    software: Optional[Software] = None
    machine: Optional[Machine] = None
    failure: Optional[Failure] = None
    allocation: Optional[Allocation] = None
    """None: measured on the machine that asked for it"""
    staging: Optional[Staging] = None
    first_loss: Optional[float] = None
    last_loss: Optional[float] = None
    printed: Optional[Printed] = None
    """imported records only: in the place of the summary, where there are no steps to summarise"""
    source: Optional[Source] = None
    """imported records only; origin is then the tool"""
    schema: int = SCHEMA_VERSION


@dataclass(frozen=True)
class ProbeResult:
    """What a probe found out in a process of its own, which it may not survive."""

    backend: str
    precision: str
    device: str
    threads: int
    ran_precision: str
    peak_flops: float
    framework_version: str
    verdict: str
    """whether the machine was ours while the peak was measured"""
    busy_threads: Optional[int] = None
    """that really worked while the peak was measured"""


T = TypeVar("T")


def to_json(value: Any) -> str:
    """Compact JSON of any schema type. NaN and infinity are refused: they are not JSON and not figures."""
    return json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """As dataclasses.asdict, without copying 100,000 steps one by one."""
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list) and value and dataclasses.is_dataclass(value[0]):
        return [_plain(item) for item in value]
    return value


def from_json(kind: type[T], text: str) -> T:
    """The inverse of to_json, for the inner half. Unknown keys are ignored, so an older worker reads a newer job."""
    return typing.cast(T, _build(kind, json.loads(text)))


def _build(kind: Any, value: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin is Union:
        inner = [a for a in typing.get_args(kind) if a is not type(None)]
        return None if value is None else (_build(inner[0], value) if len(inner) == 1 else value)
    if origin is list:
        (item,) = typing.get_args(kind)
        return [_build(item, v) for v in value]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        known = {f.name for f in dataclasses.fields(kind)}
        return kind(**{k: _build(hints[k], v) for k, v in value.items() if k in known})
    return value


def case_key(case: Case) -> str:
    """A short stable name of what is measured; labels are notes and do not change it."""
    content = {**vars(case), "budget": vars(case.budget), "labels": None}
    return hashlib.sha256(_KEY_JSON(content).encode()).hexdigest()[:16]


_KEY_JSON = json.JSONEncoder(sort_keys=True).encode
"""made once: dumps() with arguments makes an encoder for every call, and plans have 100,000 cases"""

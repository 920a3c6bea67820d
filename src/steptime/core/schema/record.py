"""The outcome of a case: a record and its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from steptime.core.schema.case import SCHEMA_VERSION, Case
from steptime.core.schema.enums import Status, StopReason, Verdict
from steptime.core.schema.machine import Machine, Software
from steptime.core.schema.profile import Profile


@dataclass(frozen=True)
class Steps:
    """The raw samples. Everything in Summary can be computed again from these."""

    seconds: list[float]
    """every step in order, first and warm-up steps included"""
    steady_start: int
    """index of the first step of the steady part"""
    steady_rule: str
    stopped_by: StopReason
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
    """where the source states only the whole, not each replica's share"""
    rounding: float = 0.0
    """how far speed x time may be off because of their printed digits, as a share: 0.05 is good to 10%"""
    others: dict[str, float] = field(default_factory=dict)
    """figures that have no field here, by the name that says their unit: accuracy, run_seconds, power_watts, ..."""


SETTINGS = ("image_size", "compile", "layout", "augmentation", "unit", "part")
"""settings that have a column of their own; the others share the column `variant`"""


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
    settings: dict[str, str] = field(default_factory=dict)
    """what else changes the work and has no field in the case: those of SETTINGS, and any other by its name"""


@dataclass(frozen=True)
class Cost:
    """What a step demands of the machine, and how close to the limit it ran."""

    parameters: int
    parameter_bytes: int
    activation_bytes: int
    flops_per_step: Optional[float]
    achieved_flops: Optional[float] = None
    peak_flops: Optional[float] = None
    limit_share: Optional[float] = None


@dataclass(frozen=True)
class GpuUse:
    """How the GPU ran while the steady steps did, as its driver reports it. None: it does not."""

    name: str
    uuid: str = ""
    driver: str = ""
    sm_mhz: Optional[float] = None
    """the mean; `least` and `most` are the lowest that was seen and the highest that the card allows"""
    least_sm_mhz: Optional[float] = None
    most_sm_mhz: Optional[float] = None
    memory_mhz: Optional[float] = None
    throttled: dict[str, float] = field(default_factory=dict)
    """share of time in which the clock was held down, by its cause (Throttle)"""
    watts: Optional[float] = None
    watts_limit: Optional[float] = None
    joules: Optional[float] = None
    """of the whole card, from the first steady step to the last"""
    celsius: Optional[float] = None
    """the highest"""
    ecc: Optional[bool] = None
    ecc_errors: Optional[int] = None
    """uncorrected, since the driver was loaded"""
    pcie_generation: Optional[int] = None
    pcie_width: Optional[int] = None
    most_pcie_generation: Optional[int] = None
    most_pcie_width: Optional[int] = None
    memory_used_bytes: Optional[int] = None
    """on the card, by all processes, at most"""
    other_processes: Optional[int] = None
    """that hold memory to compute on the card, at most; None also inside a container, where nobody can tell which one he is"""
    other_bytes: Optional[int] = None
    foreign_share: Optional[float] = None
    """share of time in which kernels of other processes ran"""


@dataclass(frozen=True)
class Contention:
    """What else used the machine while the steady steps ran."""

    verdict: Verdict
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
    gpu: Optional[GpuUse] = None
    """None: the steps ran on no GPU, or its driver did not answer"""


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
    device_reserved_bytes: Optional[int] = None
    """what the framework's allocator held of the device's memory at most; `device_peak_bytes` of it was allocated"""


@dataclass(frozen=True)
class Staging:
    """Where real data were read from, and what staging them cost."""

    store: str
    """as the case names it"""
    folder: str
    bytes: int
    seconds: float
    copied: bool
    """whether this case made the copy; else an earlier one did"""


@dataclass(frozen=True)
class FailureCause:
    """Why a case has no figure: the status and the message of its record."""

    kind: Status
    message: str


@dataclass(frozen=True)
class Failure:
    """How a worker without a result ended."""

    exit_code: Optional[int] = None
    signal: str = ""
    log_tail: str = ""


@dataclass(frozen=True)
class Allocation:
    """What a scheduler allocated to a case, and how long that took."""

    site: str
    job: str
    """the scheduler's id; of a task of an array: ARRAY_TASK"""
    partition: str = ""
    nodes: list[str] = field(default_factory=list)
    gres: str = ""
    """the devices requested on each node, as Slurm writes them: gpu:k80:2"""
    visible_devices: str = ""
    """CUDA_VISIBLE_DEVICES on the first node"""
    ran_on: str = ""
    """cpu | cuda: what the framework really ran on"""
    queue_seconds: Optional[float] = None


@dataclass(frozen=True)
class Record:
    """One finished case: a measurement or a failure. Immutable once stored."""

    id: str
    status: Status
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
    """None: measured on the machine of the controller"""
    staging: Optional[Staging] = None
    first_loss: Optional[float] = None
    last_loss: Optional[float] = None
    printed: Optional[Printed] = None
    """imported records only: in the place of the summary, where there are no steps to summarise"""
    source: Optional[Source] = None
    """imported records only; origin is then the tool"""
    profile: Optional[Profile] = None
    """None: the steps were not profiled"""
    schema: int = SCHEMA_VERSION

"""What a backend is. The defaults make the smallest one a few lines (see null/backend.py).

A backend is a folder whose backend.py holds its BACKEND. Importing that must not import the framework: the tool
reads names, phases and options from it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import numpy as np

from steptime.core.errors import OptionError, UnknownName, Unsupported
from steptime.core.models.graph import Graph
from steptime.core.schema import Case, Option, Phase, Precision, Verdict

Array = np.ndarray[Any, Any]
Weights = Mapping[str, Array]
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Facts:
    """What a framework reports about itself once it runs."""

    framework: str
    version: str
    threads: Optional[int] = None
    precision: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


class Program:
    """A model on a device, ready to step. `clock` is monotonic seconds; a fake may bring its own."""

    clock: Callable[[], float] = staticmethod(time.perf_counter)

    def step(self) -> None:
        """Starts the processing of one batch."""
        raise NotImplementedError

    def feed(self, inputs: Array, labels: Array) -> None:
        """Takes the batch of the next step. The arrays are reused once that step has ended."""
        raise Unsupported("this backend does not accept new batches")

    def wait(self) -> None:
        """Returns when every step that was started has ended on the device."""

    def loss(self) -> Optional[float]:
        """Of the last step, if there was one."""
        return None

    def outputs(self) -> Array:
        """The model's outputs for its batch in inference mode, as float64."""
        raise Unsupported("this backend computes nothing")

    def weights(self) -> dict[str, Array]:
        """All parameters and running statistics in the graph's layout."""
        raise Unsupported("this backend computes nothing")

    def device_peak_bytes(self) -> Optional[int]:
        return None

    def device_reserved_bytes(self) -> Optional[int]:
        """What the framework took from the driver, its unused cache included; None where it does not say."""
        return None


@dataclass(frozen=True)
class RankInfo:
    """The ranks of a case, as one of them sees it; rank 0 is at `address`, where `port` is kept for the framework."""

    rank: int
    local_rank: int
    size: int
    address: str
    port: int
    listener: int
    """on rank 0 the descriptor of a socket that listens there, else -1; whoever joins closes it"""
    timeout_seconds: float


class Backend:
    name = ""
    phases: tuple[Phase, ...] = (Phase.TRAINING, Phase.INFERENCE)
    precisions: tuple[Precision, ...] = (Precision.FP32,)
    devices: tuple[str, ...] = ("cpu",)
    options: Mapping[str, Option] = {}
    choices: Mapping[str, Collection[str]] = {}
    """the values that an option may have, where they are few"""
    modules: tuple[str, ...] = ()
    """the top-level modules that it imports besides the standard library, numpy and steptime"""
    preloads: tuple[str, ...] = ()
    """modules that every case needs, whose import starts no threads and no devices"""
    environment_name = ""
    """the environment that `steptime setup` makes for it; empty: steptime's own interpreter will do"""
    instruction_caps: tuple[dict[str, str], ...] = ()
    """variables that keep the framework from instructions which this CPU advertises but cannot run, mildest first"""

    data_parallel = False
    """whether several ranks can train one model together"""
    accepts_batches = False
    """whether its programs take a new batch for every step"""
    is_framework = True
    """whether it computes: null and fake do not, so that they have no outputs and their speed says nothing of the machine"""
    needs_probe = True
    """whether a probe must find out its instruction set and peak rate on a machine"""
    variants: tuple[dict[str, Option], ...] = ()
    """options under which the framework runs other code, which is compared with the reference too"""
    tolerances: Mapping[str, tuple[float, str]] = {}
    """for a figure of the comparison, or an optimiser, the larger distance from the reference that is allowed, and why"""
    parity_options: Mapping[str, Option] = {}
    parity_environment: Mapping[str, str] = {}
    """options and variables that save time where only the result counts, such as a lower level of optimisation"""
    probe_options: tuple[str, ...] = ()
    """options that change what a probe finds"""

    def environment(self, case: Case) -> dict[str, str]:
        """Variables to set before the framework is imported."""
        return {name: str(case.threads) for name in THREAD_VARIABLES}

    def preload(self) -> None:
        """Imports what every case needs and nothing more, in a process that will fork: no threads, no devices."""
        for module in self.preloads:
            importlib.import_module(module)

    def start(self, case: Case) -> None:
        """Imports the framework and gives it the case's threads."""

    def check(self, case: Case) -> None:
        """Raises Unsupported for what this backend cannot do here. Called after start."""
        for what, value, known in (
            ("phase", case.phase, self.phases),
            ("precision", case.precision, self.precisions),
            ("device", case.device, self.devices),
        ):
            if value not in known:
                raise Unsupported(f"{self.name} has no {what} {value}; it has {', '.join(known)}")
        for key, values in self.choices.items():
            if option(self, case, key) not in values:
                raise UnknownName(f"option {key} of backend {self.name}", option(self, case, key), [v for v in values if v])
        if case.precision == Precision.TF32 and case.device != "cuda":
            raise Unsupported("tf32 exists on CUDA devices only")
        if case.data != "synthetic" and not self.accepts_batches:
            raise Unsupported(f"{self.name} does not accept new batches: its data must be synthetic, not {case.data}")
        if case.replicas > 1 and not self.data_parallel:
            raise Unsupported(f"{self.name} does not support data parallelism: it runs on one device, not on {case.replicas}")

    def join(self, case: Case, info: RankInfo) -> None:
        """Connects this rank with the others. Called after check, before build, where a case has several ranks."""

    def require_devices(self, case: Case, count: int) -> None:
        """Raises Unsupported where the framework sees fewer CUDA devices than the case needs."""
        if case.device == "cuda" and not count:
            raise Unsupported(f"this {type(self).__name__} sees no CUDA device")
        if case.device == "cuda" and count < case.devices:
            raise Unsupported(f"this {type(self).__name__} sees {count} CUDA devices, not {case.devices}")

    def build(self, graph: Graph, case: Case, weights: Weights, inputs: Array, labels: Array) -> Program:
        raise NotImplementedError

    def facts(self, case: Case) -> Facts:
        """Called after build."""
        raise NotImplementedError

    def verdict(self, case: Case) -> Optional[Verdict]:
        """Replaces what the counters say of other users of the machine; None: they are right."""
        return None

    def peak_flops(self, case: Case) -> float:
        """The best rate of a large matrix product at the case's precision, threads and device."""
        raise Unsupported(f"{self.name} does not measure the machine's peak rate")


@functools.cache
def names() -> tuple[str, ...]:
    """Of all folders here that have a backend.py, in a directory as in a zip file."""
    import steptime.core.backends as package

    def holds_backend(folder: str) -> bool:
        return any(module.name == "backend" for module in pkgutil.iter_modules([folder]))

    folders = ((root, module.name) for root in package.__path__ for module in pkgutil.iter_modules([root]) if module.ispkg)
    return tuple(sorted(name for root, name in folders if holds_backend(f"{root}/{name}")))


def find(name: str) -> Backend:
    if name not in names():
        raise UnknownName("backend", name, names())
    backend = importlib.import_module(f"steptime.core.backends.{name}.backend").BACKEND
    assert isinstance(backend, Backend)
    return backend


def option(backend: Backend, case: Case, key: str) -> Any:
    return case.backend_options.get(key, backend.options[key])


def check_options(backend: Backend, options: Mapping[str, Option]) -> None:
    for key, value in options.items():
        if key not in backend.options:
            raise OptionError(key, UnknownName(f"option of backend {backend.name}", key, backend.options))
        default = backend.options[key]
        fits = isinstance(value, type(default)) and isinstance(value, bool) == isinstance(default, bool)
        if not fits and not (isinstance(default, float) and type(value) is int):
            kind = type(default).__name__
            raise OptionError(key, f"option {key} of backend {backend.name} takes {kind} (default {default!r}), not '{value}'")

"""What is measured: a case, its budget, and the job that carries it to a worker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Optional, Union

from steptime.core.schema.enums import JobKind, Phase, Precision, Verdict

SCHEMA_VERSION = 1

OPTIMIZERS = ("sgd", "momentum", "adam", "none")
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
    """One thing to measure, with every setting. Empty words and zeroes in an imported record: the source does not say."""

    model: str
    backend: str
    batch: int
    """samples per replica and step"""
    phase: Phase = Phase.TRAINING
    precision: Precision = Precision.FP32
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
    """The input of a worker: the file job.json in its folder."""

    id: str
    case: Case
    kind: JobKind = JobKind.MEASURE
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
class ProbeResult:
    """What a probe measures in its own process, which it may not survive."""

    backend: str
    precision: Precision
    device: str
    threads: int
    ran_precision: str
    peak_flops: float
    framework_version: str
    verdict: Verdict
    """whether the machine was ours while the peak was measured"""
    busy_threads: Optional[int] = None
    """that really worked while the peak was measured"""


def case_key(case: Case) -> str:
    """A short stable name of what is measured; labels are notes and do not change it."""
    content = {**vars(case), "budget": vars(case.budget), "labels": None}
    return hashlib.sha256(_KEY_JSON(content).encode()).hexdigest()[:16]


_KEY_JSON = json.JSONEncoder(sort_keys=True).encode
"""made once: dumps() with arguments makes an encoder for every call, and plans have 100,000 cases"""

"""Where a case ran: the hardware, and the software on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Optional


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
    modules: list[str] = field(default_factory=list)
    """of the module system (Lmod, Environment Modules), in the order in which they were loaded"""


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
    """virtual machine or container, with what makes it one in parentheses; empty: no sign of either"""
    cpu_flags: list[str] = field(default_factory=list)
    accelerators: list[Accelerator] = field(default_factory=list)

    @property
    def runtime(self) -> str:
        """bare metal, virtual machine, container, or container in a virtual machine"""
        return re.sub(r" \([^)]*\)", "", self.virtualised) or "bare metal"

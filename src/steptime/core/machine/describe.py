"""The machine in one frozen description, gathered in milliseconds from /proc and /sys."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path
from typing import Optional

from steptime.core.machine.cpus import read, usable_cpus
from steptime.core.machine.memory import total_bytes, usable_bytes
from steptime.core.machine.nvml import Nvml, open_nvml
from steptime.core.machine.virtualisation import virtualised
from steptime.core.schema import Accelerator, Machine

NOTABLE_FLAGS = (
    "avx",
    "avx2",
    "avx512f",
    "avx512_bf16",
    "avx512_fp16",
    "avx512_vnni",
    "amx_tile",
    "amx_bf16",
    "amx_int8",
    "asimd",
    "sve",
)


def describe() -> Machine:
    info = _cpuinfo()
    sockets, cores = _topology()
    flags = set((info.get("flags") or info.get("Features") or "").split())
    machine = Machine(
        id="",
        host=platform.node(),
        cpu=info.get("model name") or platform.processor() or platform.machine(),
        sockets=sockets,
        cores=cores,
        logical_cpus=os.cpu_count() or 1,
        usable_cpus=usable_cpus(),
        memory_bytes=total_bytes(),
        usable_memory_bytes=usable_bytes(),
        os=_os_name(),
        kernel=platform.release(),
        architecture=platform.machine(),
        virtualised=virtualised(flags),
        cpu_flags=[f for f in NOTABLE_FLAGS if f in flags],
        accelerators=accelerators(open_nvml()),
    )
    return _with_id(machine)


def _with_id(machine: Machine) -> Machine:
    """What decides speed, and the host: not kernel, quota or software, which may change on the same machine."""
    from dataclasses import replace

    parts = [machine.host, machine.cpu, machine.sockets, machine.cores, machine.logical_cpus, *machine.cpu_flags]
    parts += [a.name for a in machine.accelerators]
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:12]
    return replace(machine, id=digest)


def _cpuinfo() -> dict[str, str]:
    """The first processor's entries of /proc/cpuinfo."""
    first = read(Path("/proc/cpuinfo")).split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _topology() -> tuple[int, int]:
    """Sockets, and physical cores in all of them."""
    cores = set()
    for folder in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology"):
        cores.add((read(folder / "physical_package_id"), read(folder / "core_id")))
    if not cores:
        return 1, os.cpu_count() or 1
    return len({package for package, _ in cores}), len(cores)


def _os_name() -> str:
    for line in read(Path("/etc/os-release")).splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.platform(terse=True)


def accelerators(nvml: Optional[Nvml]) -> list[Accelerator]:
    """NVIDIA devices; a driver that does not answer has none."""
    if nvml is None:
        return []
    described = [(device.name, device.memory()) for device in nvml.devices()]
    return [Accelerator(name, memory.total if memory else None, nvml.driver()) for name, memory in described]

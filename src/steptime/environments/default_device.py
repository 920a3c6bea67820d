"""The device of a case that names none: the best one that the machine has and the installed framework can use."""

from __future__ import annotations

import os
from functools import cache

from steptime.core.backends.base import find
from steptime.core.machine.gpu import visible_devices
from steptime.core.machine.nvml import open_nvml
from steptime.environments.install import environment
from steptime.environments.pins import has_platform, pins


@cache
def gpu_names() -> list[str]:
    """Of the NVIDIA GPUs that CUDA shows to a process of this one; their order does not matter here."""
    nvml = open_nvml()
    on_bus = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    return [device.name for device in visible_devices(nvml.devices(), on_bus)] if nvml else []


def default_device(backend: str, devices: int) -> str:
    """By the driver and the packages that were installed: importing the framework to ask it would take seconds."""
    return "cuda" if len(gpu_names()) >= devices and _built_for_cuda(backend) else "cpu"


@cache
def _built_for_cuda(backend: str) -> bool:
    """PyTorch's packages are the same for both platforms, so that they count and not what they were installed for.

    A registry may hold builds for CPUs under the same names: the lock file then has `torch==2.13.0+cpu`.
    """
    known = find(backend)
    name = known.environment_name
    if "cuda" not in known.devices or not name or not has_platform(name, "cuda"):
        return False
    env = environment(name)
    return env.packages == pins(name, "cuda").wanted and not any(line.endswith("+cpu") for line in env.lock)

"""The GPU that steps run on: which one it is, how it ran while they did, and who else used it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional, TypeVar

from steptime.core.machine.nvml import Device, Nvml, open_nvml
from steptime.core.schema import GpuUse, Throttle

FIRST_PID_NAMESPACE = 0xEFFFFFFC
"""the inode of the kernel's own: NVML counts processes there, so that inside a container nobody can tell which one he is"""
SM_CLOCK, MEMORY_CLOCK = 1, 2
UNCORRECTED, SINCE_START = 1, 0
POWER_POLICY, HEAT_POLICY = 0, 1
THROTTLE_BITS = {Throttle.POWER_CAP: 0x04, Throttle.HEAT: 0x20 | 0x40, Throttle.HARDWARE: 0x08 | 0x80}

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class GpuSample:
    """One moment; None: the card or its driver does not report it."""

    wall_seconds: float
    sm_mhz: Optional[int]
    memory_mhz: Optional[int]
    throttle_bits: Optional[int]
    throttled_seconds: Mapping[Throttle, Optional[float]]
    """counted since the driver was loaded, where it counts"""
    watts: Optional[float]
    joules: Optional[float]
    celsius: Optional[int]
    memory_used_bytes: Optional[int]
    pcie_generation: Optional[int]
    pcie_width: Optional[int]
    other_processes: Optional[Mapping[int, Optional[int]]]
    """bytes by process id, without this process"""
    foreign_share: Optional[float]
    """of the time since the sample before, that in which kernels of other processes ran"""


class GpuWatch:
    """Samples one GPU between blocks of steps."""

    def __init__(self, nvml: Nvml, device: Device, own_pid: Optional[int]) -> None:
        self._nvml, self._device, self._own_pid = nvml, device, own_pid
        self._last_microseconds = int(1e6 * time.time())

    def sample(self) -> GpuSample:
        read, memory = self._device.number, self._device.memory()
        return GpuSample(
            wall_seconds=time.monotonic(),
            sm_mhz=read("nvmlDeviceGetClockInfo", SM_CLOCK),
            memory_mhz=read("nvmlDeviceGetClockInfo", MEMORY_CLOCK),
            throttle_bits=read("nvmlDeviceGetCurrentClocksThrottleReasons", wide=True),
            throttled_seconds={
                Throttle.POWER_CAP: self._device.violation_seconds(POWER_POLICY),
                Throttle.HEAT: self._device.violation_seconds(HEAT_POLICY),
            },
            watts=_thousandth(read("nvmlDeviceGetPowerUsage")),
            joules=_thousandth(read("nvmlDeviceGetTotalEnergyConsumption", wide=True)),
            celsius=read("nvmlDeviceGetTemperature", 0),
            memory_used_bytes=memory.used if memory else None,
            pcie_generation=read("nvmlDeviceGetCurrPcieLinkGeneration"),
            pcie_width=read("nvmlDeviceGetCurrPcieLinkWidth"),
            other_processes=self._other_processes(),
            foreign_share=self._foreign_share(),
        )

    def use(self, samples: Sequence[GpuSample]) -> GpuUse:
        """From the first sample to the last. A link and a clock are slower at rest, so that the fastest link counts."""
        read, ended = self._device.number, samples[-1]
        others = [sample.other_processes for sample in samples if sample.other_processes is not None]
        most = max(others, key=len, default=None)
        joules = _difference(samples[0].joules, ended.joules)
        return GpuUse(
            name=self._device.name,
            uuid=self._device.uuid,
            driver=self._nvml.driver(),
            sm_mhz=_mean([s.sm_mhz for s in samples[1:]]),
            least_sm_mhz=min(_known([s.sm_mhz for s in samples[1:]]), default=None),
            most_sm_mhz=read("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
            memory_mhz=_mean([s.memory_mhz for s in samples[1:]]),
            throttled={reason: share for reason in Throttle if (share := _throttled_share(samples, reason)) is not None},
            watts=_mean([s.watts for s in samples[1:]]),
            watts_limit=_thousandth(read("nvmlDeviceGetEnforcedPowerLimit")),
            joules=joules,
            celsius=max(_known([s.celsius for s in samples]), default=None),
            ecc=self._device.ecc(),
            ecc_errors=read("nvmlDeviceGetTotalEccErrors", UNCORRECTED, SINCE_START, wide=True),
            pcie_generation=max(_known([s.pcie_generation for s in samples]), default=None),
            pcie_width=max(_known([s.pcie_width for s in samples]), default=None),
            most_pcie_generation=read("nvmlDeviceGetMaxPcieLinkGeneration"),
            most_pcie_width=read("nvmlDeviceGetMaxPcieLinkWidth"),
            memory_used_bytes=max(_known([s.memory_used_bytes for s in samples]), default=None),
            other_processes=None if most is None else len(most),
            other_bytes=None if most is None or None in most.values() else sum(_known(list(most.values()))),
            foreign_share=_mean([s.foreign_share for s in samples[1:]]),
        )

    def _other_processes(self) -> Optional[dict[int, Optional[int]]]:
        listed = self._device.processes() if self._own_pid else None
        return None if listed is None else {pid: size for pid, size in listed.items() if pid != self._own_pid}

    def _foreign_share(self) -> Optional[float]:
        """None where the driver has taken no sample since: it takes a few in a second."""
        since, self._last_microseconds = self._last_microseconds, int(1e6 * time.time())
        shares = self._device.utilisation(since) if self._own_pid else None
        return min(1.0, sum(share for pid, share in shares.items() if pid != self._own_pid)) if shares else None


def gpu_watch(device: str, local_rank: int, environment: Mapping[str, str] = os.environ) -> Optional[GpuWatch]:
    """Of the GPU that this rank of a case runs on; None where it runs on none, or its driver does not answer."""
    nvml = open_nvml() if device == "cuda" else None
    if nvml is None:
        return None
    visible = visible_devices(nvml.devices(), environment)
    return GpuWatch(nvml, visible[local_rank], visible_pid()) if local_rank < len(visible) else None


def visible_devices(devices: Sequence[Device], environment: Mapping[str, str]) -> list[Device]:
    """Those that CUDA shows to a process, in CUDA's order; empty where that cannot be known.

    CUDA counts from the fastest device and NVML along the PCI bus, so that among different cards numbers mean nothing without
    CUDA_DEVICE_ORDER=PCI_BUS_ID. Of a list CUDA takes what stands before the first entry that it does not know.
    """
    same_order = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({device.name for device in devices}) < 2
    words = environment.get("CUDA_VISIBLE_DEVICES")
    if words is None:
        return list(devices) if same_order else []
    chosen: list[Device] = []
    for word in map(str.strip, words.split(",")):
        matches = [device for device in devices if _is_named(device, word, same_order)]
        if len(matches) != 1:
            break
        chosen += matches
    return chosen


def _is_named(device: Device, word: str, same_order: bool) -> bool:
    """By number, or by the beginning of a UUID. Parts of a card (MIG) have counters of their own, which are not read."""
    if word.isdigit():
        return same_order and device.index == int(word)
    return word.startswith("GPU-") and device.uuid.startswith(word)


def visible_pid() -> Optional[int]:
    """This process's id as NVML writes it; None inside a container, which has a numbering of its own."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return None
    return os.getpid() if namespace == FIRST_PID_NAMESPACE else None


def _throttled_share(samples: Sequence[GpuSample], reason: Throttle) -> Optional[float]:
    """By the driver's counter or by what held at the end of each block, whichever is more: not every card counts."""
    wall = samples[-1].wall_seconds - samples[0].wall_seconds
    counted = _difference(samples[0].throttled_seconds.get(reason), samples[-1].throttled_seconds.get(reason))
    bits = _known([sample.throttle_bits for sample in samples[1:]])
    shares = [counted / wall] if counted is not None and wall > 0 else []
    shares += [sum(bool(value & THROTTLE_BITS[reason]) for value in bits) / len(bits)] if bits else []
    return min(1.0, max(shares)) if shares else None


def _known(values: Sequence[Optional[N]]) -> list[N]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[Optional[float]]) -> Optional[float]:
    known = _known(values)
    return sum(known) / len(known) if known else None


def _difference(begin: Optional[float], end: Optional[float]) -> Optional[float]:
    return None if begin is None or end is None else end - begin


def _thousandth(value: Optional[int]) -> Optional[float]:
    return None if value is None else value / 1e3

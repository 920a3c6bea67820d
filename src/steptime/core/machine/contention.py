"""Who else uses the machine while steps run: counters are read between blocks of steps and judged at the end."""

from __future__ import annotations

import math
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from steptime.core.machine.cpus import read, usable_cpus
from steptime.core.machine.gpu import GpuSample, GpuWatch
from steptime.core.schema import Contention, GpuUse, Throttle, Verdict

SHORTEST_SECONDS = 0.05
"""for less the counters are too coarse"""
# share of time or of cores: (noisy, contended)
PRESSURE = (0.05, 0.25)
STEAL = (0.02, 0.10)
FOREIGN = (0.05, 0.25)
THROTTLED = {Throttle.POWER_CAP: (0.05, math.inf), Throttle.HEAT: (0.05, 0.25), Throttle.HARDWARE: (0.05, 0.25)}
"""a power cap is a setting of the card: the next try would meet it again"""
IDLE_GUEST = (0.0, math.inf)
"""of a process on the GPU whose share of the time the driver does not report"""
OWN_SWITCHES_PER_SECOND = 2.0
"""pressure that does not preempt our own threads does not disturb us"""


@dataclass(frozen=True)
class Sample:
    """Counters at one moment; differences of two samples mean something."""

    wall_seconds: float
    cpu_seconds: float
    involuntary_switches: int
    pressure_seconds: Optional[float]
    busy_seconds: Optional[float]
    steal_seconds: Optional[float]
    runnable_tasks: Optional[int]
    gpu: Optional[GpuSample] = None


def sample(watch: Optional[GpuWatch] = None) -> Sample:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    busy, steal = _stat()
    return Sample(
        wall_seconds=time.monotonic(),
        cpu_seconds=own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        involuntary_switches=own.ru_nivcsw,
        pressure_seconds=_pressure(),
        busy_seconds=busy,
        steal_seconds=steal,
        runnable_tasks=_runnable(),
        gpu=watch.sample() if watch else None,
    )


def judge(begin: Sample, end: Sample, steps: int, threads: int, gpu: Optional[GpuUse] = None) -> Contention:
    wall = end.wall_seconds - begin.wall_seconds
    cpu = end.cpu_seconds - begin.cpu_seconds
    switches = end.involuntary_switches - begin.involuntary_switches
    pressure = _share(begin.pressure_seconds, end.pressure_seconds, wall)
    steal = _share(begin.steal_seconds, end.steal_seconds, wall * (os.cpu_count() or 1))
    busy = _share(begin.busy_seconds, end.busy_seconds, wall)
    foreign = None if busy is None else max(0.0, busy - cpu / wall)
    verdict, reason = _verdict(wall, switches, pressure, steal, foreign, threads, gpu)
    return Contention(
        verdict=verdict,
        reason=reason,
        wall_seconds=wall,
        cpu_seconds=cpu,
        cpu_seconds_per_step=cpu / max(steps, 1),
        involuntary_switches=switches,
        pressure_share=pressure,
        steal_share=steal,
        foreign_cores=foreign,
        runnable_tasks=None if end.runnable_tasks is None else float(end.runnable_tasks),
        gpu=gpu,
    )


def _verdict(
    wall: float,
    switches: int,
    pressure: Optional[float],
    steal: Optional[float],
    foreign: Optional[float],
    threads: int,
    gpu: Optional[GpuUse],
) -> tuple[Verdict, str]:
    """The worst finding, and its reason in words."""
    if wall < SHORTEST_SECONDS:
        return Verdict.UNKNOWN, "too short to judge"
    usable = usable_cpus()
    if threads > usable:
        return Verdict.CONTENDED, f"{threads} threads on {usable:g} usable CPUs"
    findings = _gpu_findings(gpu) if gpu else []
    if pressure is not None and switches / wall > OWN_SWITCHES_PER_SECOND:
        findings.append((pressure, PRESSURE, f"tasks waited for a CPU {pressure:.0%} of the time"))
    if steal is not None:
        findings.append((steal, STEAL, f"the hypervisor took {steal:.0%} of the CPU time"))
    if foreign is not None and foreign + threads > (os.cpu_count() or 1):
        findings.append((foreign / threads, FOREIGN, f"other processes used {foreign:.1f} cores"))
    for level, name in ((1, Verdict.CONTENDED), (0, Verdict.NOISY)):
        for value, limits, reason in findings:
            if value > limits[level]:
                return name, reason
    return Verdict.CLEAN, "nothing else of note ran"


def _gpu_findings(gpu: GpuUse) -> list[tuple[float, tuple[float, float], str]]:
    """(value, limits, reason) of everybody and everything that may have slowed it."""
    findings = []
    if gpu.foreign_share is not None:
        findings.append((gpu.foreign_share, FOREIGN, f"other processes used the GPU {gpu.foreign_share:.0%} of the time"))
    elif gpu.other_processes:
        are = "process is" if gpu.other_processes == 1 else "processes are"
        findings.append((1.0, IDLE_GUEST, f"{gpu.other_processes} other {are} on the GPU"))
    clock = f", to {gpu.least_sm_mhz:.0f} of {gpu.most_sm_mhz:.0f} MHz" if gpu.least_sm_mhz and gpu.most_sm_mhz else ""
    for cause, share in gpu.throttled.items():
        reason = f"the GPU lowered its clock {share:.0%} of the time ({cause}){clock}"
        findings.append((share, THROTTLED[Throttle(cause)], reason))
    return findings


def _share(begin: Optional[float], end: Optional[float], whole: float) -> Optional[float]:
    return None if begin is None or end is None or whole <= 0 else (end - begin) / whole


def _pressure() -> Optional[float]:
    """Seconds in which some task waited for a CPU, since boot (PSI)."""
    for line in read(Path("/proc/pressure/cpu")).splitlines():
        if line.startswith("some"):
            return int(line.rpartition("total=")[2]) / 1e6
    return None


def _stat() -> tuple[Optional[float], Optional[float]]:
    """Seconds of work and of steal over all CPUs since boot."""
    fields = read(Path("/proc/stat")).partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu":
        return None, None
    user, nice, system, _, _, irq, softirq, steal = (int(f) for f in fields[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / tick, steal / tick


def _runnable() -> Optional[int]:
    fields = read(Path("/proc/loadavg")).split()
    return int(fields[3].partition("/")[0]) if len(fields) > 3 else None

"""NVIDIA GPUs as their driver describes them, through NVML's C interface.

By ctypes, because the core needs numpy alone: nvidia-ml-py would be one more package in every framework's environment, while the
library itself comes with the driver. What a card or a driver does not report is None: consumer cards support few counters, and a
GPU may be lost at any time.
"""

from __future__ import annotations

import ctypes
import functools
from ctypes import Structure, byref, c_uint, c_ulonglong, c_void_p, create_string_buffer
from typing import Any, Optional

LIBRARY = "libnvidia-ml.so.1"
SUCCESS, NOT_FOUND, FUNCTION_NOT_FOUND = 0, 6, 13
NOT_AVAILABLE = 2**64 - 1
"""as a process's memory: the driver does not know it"""
TEXT_BYTES = 96
MOST_PROCESSES = 1024


class Memory(Structure):
    _fields_ = [("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong)]


class ViolationTime(Structure):
    _fields_ = [("reference_microseconds", c_ulonglong), ("violation_nanoseconds", c_ulonglong)]


class OldProcess(Structure):
    """Of drivers before 450."""

    _fields_ = [("pid", c_uint), ("memory", c_ulonglong)]


class Process(Structure):
    _fields_ = [("pid", c_uint), ("memory", c_ulonglong), ("gpu_instance", c_uint), ("compute_instance", c_uint)]


class Utilisation(Structure):
    _fields_ = [
        ("pid", c_uint),
        ("microseconds", c_ulonglong),
        ("sm_percent", c_uint),
        ("memory_percent", c_uint),
        ("encoder_percent", c_uint),
        ("decoder_percent", c_uint),
    ]


PROCESS_LISTS: tuple[tuple[str, type[Structure]], ...] = (
    ("nvmlDeviceGetComputeRunningProcesses_v3", Process),
    ("nvmlDeviceGetComputeRunningProcesses_v2", Process),
    ("nvmlDeviceGetComputeRunningProcesses", OldProcess),
)
"""newest first: the size of an entry has changed, and a driver has all names up to its own"""


class Nvml:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def call(self, name: str, *arguments: Any) -> int:
        """The function's return code; that of a missing function where the driver is too old to have it."""
        try:
            function = getattr(self._library, name)
        except AttributeError:
            return FUNCTION_NOT_FOUND
        return int(function(*arguments))

    def driver(self) -> str:
        text = create_string_buffer(TEXT_BYTES)
        return _text(text) if self.call("nvmlSystemGetDriverVersion", text, c_uint(TEXT_BYTES)) == SUCCESS else ""

    def devices(self) -> list[Device]:
        """In the order of the PCI bus, those included that CUDA_VISIBLE_DEVICES hides."""
        count = c_uint()
        if self.call("nvmlDeviceGetCount_v2", byref(count)) != SUCCESS:
            return []
        handles = [c_void_p() for _ in range(count.value)]
        codes = [self.call("nvmlDeviceGetHandleByIndex_v2", c_uint(i), byref(handle)) for i, handle in enumerate(handles)]
        return [Device(self, handle, i) for i, (handle, code) in enumerate(zip(handles, codes)) if code == SUCCESS]


class Device:
    """One GPU, by its number on the PCI bus."""

    def __init__(self, nvml: Nvml, handle: c_void_p, index: int) -> None:
        self._nvml, self._handle, self.index = nvml, handle, index
        self.name = self._words("nvmlDeviceGetName")
        self.uuid = self._words("nvmlDeviceGetUUID")

    def number(self, function: str, *selectors: int, wide: bool = False) -> Optional[int]:
        """What a function writes to its last argument: unsigned int, or unsigned long long where that is `wide`."""
        result = c_ulonglong() if wide else c_uint()
        code = self._nvml.call(function, self._handle, *map(c_uint, selectors), byref(result))
        return int(result.value) if code == SUCCESS else None

    def memory(self) -> Optional[Memory]:
        memory = Memory()
        return memory if self._nvml.call("nvmlDeviceGetMemoryInfo", self._handle, byref(memory)) == SUCCESS else None

    def ecc(self) -> Optional[bool]:
        """Whether errors in memory are corrected now; a change takes effect at the next start."""
        current, pending = c_uint(), c_uint()
        code = self._nvml.call("nvmlDeviceGetEccMode", self._handle, byref(current), byref(pending))
        return bool(current.value) if code == SUCCESS else None

    def violation_seconds(self, policy: int) -> Optional[float]:
        """For how long a limit has held the clock down since the driver was loaded."""
        time = ViolationTime()
        code = self._nvml.call("nvmlDeviceGetViolationStatus", self._handle, c_uint(policy), byref(time))
        return time.violation_nanoseconds / 1e9 if code == SUCCESS else None

    def processes(self) -> Optional[dict[int, Optional[int]]]:
        """Bytes by process id, of processes that compute; those that only draw are not among them."""
        for function, kind in PROCESS_LISTS:
            entries, count = (kind * MOST_PROCESSES)(), c_uint(MOST_PROCESSES)
            code = self._nvml.call(function, self._handle, byref(count), entries)
            if code == SUCCESS:
                listed = entries[: count.value]
                return {entry.pid: None if entry.memory == NOT_AVAILABLE else entry.memory for entry in listed}
            if code != FUNCTION_NOT_FOUND:
                return None
        return None

    def utilisation(self, since_microseconds: int) -> Optional[dict[int, float]]:
        """Share of time in which kernels of a process ran, by process id; empty where nothing was sampled since that moment."""
        entries, count = (Utilisation * MOST_PROCESSES)(), c_uint(MOST_PROCESSES)
        arguments = (entries, byref(count), c_ulonglong(since_microseconds))
        code = self._nvml.call("nvmlDeviceGetProcessUtilization", self._handle, *arguments)
        if code == NOT_FOUND:
            return {}
        return {entry.pid: entry.sm_percent / 100 for entry in entries[: count.value]} if code == SUCCESS else None

    def _words(self, function: str) -> str:
        text = create_string_buffer(TEXT_BYTES)
        return _text(text) if self._nvml.call(function, self._handle, text, c_uint(TEXT_BYTES)) == SUCCESS else ""


def _text(buffer: ctypes.Array[ctypes.c_char]) -> str:
    return buffer.value.decode("utf-8", "replace")


@functools.cache
def open_nvml(path: str = LIBRARY) -> Optional[Nvml]:
    """None where there is no driver, or none that answers. Opened once in a process and left open until it ends."""
    try:
        nvml = Nvml(ctypes.CDLL(path))
    except OSError:
        return None
    return nvml if nvml.call("nvmlInit_v2") == SUCCESS else None

from steptime.core.machine.describe import accelerators, describe
from steptime.core.machine.memory import available_bytes, peak_rss_bytes, total_bytes, tree_rss_bytes, usable_bytes
from steptime.core.machine.nvml import open_nvml
from steptime.core.schema import Accelerator


def test_this_machine_is_described():
    machine = describe()
    assert machine.cpu and machine.host and machine.os
    assert 1 <= machine.cores <= machine.logical_cpus
    assert 0 < machine.usable_memory_bytes <= machine.memory_bytes
    assert describe() == machine


def test_the_driver_names_the_accelerators(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "devices=2 mixed=1")
    first, second = accelerators(open_nvml(nvml_library))
    assert first == Accelerator("NVIDIA A100-SXM4-40GB", 40 << 30, "550.54.14")
    assert second.name == "NVIDIA T400"


def test_memory_that_the_driver_does_not_tell_is_unknown(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "memory_used=none")
    assert [accelerator.memory_bytes for accelerator in accelerators(open_nvml(nvml_library))] == [None]


def test_without_a_driver_there_is_no_accelerator():
    assert accelerators(None) == []


def test_memory_figures_are_in_order():
    assert 0 < available_bytes() <= usable_bytes() <= total_bytes()
    before = peak_rss_bytes()
    hoard = bytearray(b"x" * (64 << 20))
    assert peak_rss_bytes() >= before
    assert tree_rss_bytes() > len(hoard)

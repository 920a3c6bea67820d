from steptime.core.machine.describe import describe, parse_nvidia_smi
from steptime.core.machine.memory import available_bytes, peak_rss_bytes, total_bytes, tree_rss_bytes, usable_bytes


def test_this_machine_is_described():
    machine = describe()
    assert machine.cpu and machine.host and machine.os
    assert 1 <= machine.cores <= machine.logical_cpus
    assert 0 < machine.usable_memory_bytes <= machine.memory_bytes
    assert describe() == machine


def test_nvidia_smi_lines_become_accelerators():
    text = "Tesla P100-PCIE-16GB, 16280, 535.104\nNVIDIA H100 80GB HBM3, [N/A], 550.54\nNo devices were found\n"
    first, second = parse_nvidia_smi(text)
    assert (first.name, first.memory_bytes, first.driver) == ("Tesla P100-PCIE-16GB", 16280 * 2**20, "535.104")
    assert second.memory_bytes is None


def test_memory_figures_are_in_order():
    assert 0 < available_bytes() <= usable_bytes() <= total_bytes()
    before = peak_rss_bytes()
    hoard = bytearray(b"x" * (64 << 20))
    assert peak_rss_bytes() >= before
    assert tree_rss_bytes() > len(hoard)
